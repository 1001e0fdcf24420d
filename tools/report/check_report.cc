// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/check_report.h"

#include <algorithm>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/analysis/kept/growth.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::LimitCheck;
using nlohmann::ordered_json;

bool IsAnyExceeded(const std::vector<LimitCheck>& checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const LimitCheck& check) { return check.is_exceeded(); });
}

// Returns null if no limit is known to be exceeded, but not all are known to hold.
ordered_json HoldsJson(const std::vector<LimitCheck>& checks) {
  if (IsAnyExceeded(checks)) return false;
  const bool all_hold = std::all_of(checks.begin(), checks.end(),
                                    [](const LimitCheck& check) { return check.holds(); });
  return all_hold ? ordered_json(true) : ordered_json(nullptr);
}

std::string FailureSentence(const LimitCheck& check) {
  if (check.holds()) return Message("No out of memory stopped the run.");
  const auto failures = static_cast<uint64_t>(check.found.value_or(0));
  return CountedMessage(failures, "1 request ran out of memory; --allow-oom lets such a run pass.",
                        "$0 requests ran out of memory; --allow-oom lets such a run pass.",
                        FormatCount(failures));
}

// Says why a growth is not known, and what to record.
std::string NotKnownSentence(const LimitCheck& check) {
  const std::string needed = FormatCount(analysis::kStepsForGrowth);
  if (check.steps == 0)
    return Message(
        "Card $0: the growth is not known, because the trace has no steps. Record a run of at "
        "least $1 steps: optimizer.step() or memtrace.step() ends a step.",
        *check.card, needed);
  const uint64_t missing = analysis::kStepsForGrowth - check.steps;
  return JoinedSentences(
      {CountedMessage(check.steps,
                      "Card $0: the growth is not known, because the trace has only 1 step.",
                      "Card $0: the growth is not known, because the trace has only $1 steps.",
                      *check.card, FormatCount(check.steps)),
       CountedMessage(missing, "Record at least 1 more step.", "Record at least $0 more steps.",
                      FormatCount(missing))});
}

std::string Sentence(const LimitCheck& check) {
  if (!check.card) return FailureSentence(check);
  if (!check.found) return NotKnownSentence(check);
  const int32_t card = *check.card;
  const std::string found = FormatSignedBytes(*check.found);
  const std::string limit = FormatSignedBytes(check.limit);
  const std::string excess = FormatSignedBytes(*check.found - check.limit);
  const bool holds = check.holds();
  if (check.what == "peak") {
    return holds ? Message("Card $0: the peak is $1, within the limit of $2.", card, found, limit)
                 : Message("Card $0: the peak is $1, $3 above the limit of $2.", card, found, limit,
                           excess);
  }
  if (check.what == "growth") {
    return holds ? Message("Card $0: the growth is $1 a step, within the limit of $2.", card, found,
                           limit)
                 : Message("Card $0: the growth is $1 a step, $3 above the limit of $2.", card,
                           found, limit, excess);
  }
  return holds ? Message("Card $0: $3 holds $1 at the peak, within the limit of $2.", card, found,
                         limit, check.what)
               : Message("Card $0: $3 holds $1 at the peak, $4 above the limit of $2.", card, found,
                         limit, check.what, excess);
}

std::string Line(const LimitCheck& check) {
  constexpr size_t kResultColumns = 8;
  const std::string known = check.holds() ? Message("ok") : Message("FAILED");
  const std::string result = check.found ? known : Message("unknown");
  return "  " + LeftAligned(result, kResultColumns) + Sentence(check) + "\n";
}

}  // namespace

std::string TextCheck(const std::vector<LimitCheck>& checks, const analysis::RunFacts& run) {
  const std::string file = Printable(run.file);
  std::string text = file + "\n";
  for (const LimitCheck& check : checks) text += Line(check);
  if (IsAnyExceeded(checks))
    text += Message("To see who holds the memory, run: memtrace tree --at peak $0", file) + "\n";
  return text;
}

std::string JsonCheck(const std::vector<LimitCheck>& checks, const analysis::RunFacts& run) {
  ordered_json rows = ordered_json::array();
  for (const LimitCheck& check : checks) {
    rows.push_back({{"card", check.card ? ordered_json(*check.card) : ordered_json(nullptr)},
                    {"what", check.what},
                    {"found", check.found ? ordered_json(*check.found) : ordered_json(nullptr)},
                    {"limit", check.limit},
                    {"holds", HoldsJson({check})}});
  }
  return JsonText({{"schema", "memtrace.check/1"},
                   {"file", run.file},
                   {"holds", HoldsJson(checks)},
                   {"checks", rows}});
}

}  // namespace memtrace::report
