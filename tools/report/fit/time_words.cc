// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/time_words.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/fit/needs/step_time.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using nlohmann::ordered_json;

constexpr size_t kNamesShown = 3;
constexpr double kMicroseconds = 1e6;  // in a second

// Returns "a, b, c and 4 more".
std::string NamesText(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamesShown); ++i)
    text += (text.empty() ? "" : ", ") + Printable(names[i]);
  if (names.size() <= kNamesShown) return text;
  return Message("$0 and $1 more", text, FormatCount(names.size() - kNamesShown));
}

ordered_json PartsJson(const fit::StepTime& time) {
  ordered_json parts = ordered_json::array();
  for (const fit::PartTime& part : time.parts)
    parts.push_back({{"phase", part.phase},
                     {"card_seconds", static_cast<double>(part.card) / kMicroseconds},
                     {"host_seconds", static_cast<double>(part.host) / kMicroseconds}});
  return parts;
}

}  // namespace

std::string TimeText(const fit::Answer& answer, const fit::Outcome& outcome) {
  // The run for reference has as many steps as the remedies: later steps may have other data.
  const fit::Outcome& unchanged = answer.reference ? *answer.reference : answer.unlimited;
  const auto ratio = fit::TimeRatio(unchanged.time(), outcome.time());
  return ratio ? absl::StrFormat("%.2f x", *ratio) : "";
}

std::vector<std::string> TimeNotes(const fit::Answer& answer) {
  const std::optional<fit::StepTime> time = answer.unlimited.time();
  if (!time) return {};
  if (!time->is_whole())
    return {
        Message("No time is estimated: $0 kernels of a step were launched by no operator of "
                "torch (compiled code, for example).",
                FormatCount(time->uncounted))};
  std::vector<std::string> notes = {
      time->is_measured
          ? Message("The time of a step is an estimate, as a multiple of that of the run without "
                    "a limit.")
          : Message("The time of a step is an estimate, as a multiple of that of the run without "
                    "a limit. This card's speeds are assumed, from an H100's.")};
  if (time->is_bound_by_launches())
    notes.push_back(
        Message("The step is bound by launches: its time depends on the processor more than on "
                "the card."));
  if (!time->unknown.empty())
    notes.push_back(
        Message("Operators without a rule, which count only by the bytes that they "
                "read and write: $0.",
                NamesText(time->unknown)));
  return notes;
}

ordered_json TimeJson(const std::optional<fit::StepTime>& time) {
  if (!time) return nullptr;
  ordered_json seconds = nullptr;
  if (time->is_whole()) seconds = time->seconds();
  return {{"seconds", seconds},
          {"parts", PartsJson(*time)},
          {"bus_seconds", static_cast<double>(time->bus) / kMicroseconds},
          {"link_seconds", static_cast<double>(time->link) / kMicroseconds},
          {"speeds", time->is_measured ? "measured" : "assumed"},
          {"bound_by_launches", time->is_bound_by_launches()},
          {"unknown_operators", time->unknown},
          {"launches", time->launches},
          {"uncounted_kernels", time->uncounted}};
}

}  // namespace memtrace::report
