// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/replay_report.h"

#include <optional>
#include <string_view>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/run_header.h"
#include "tools/report/words/command_words.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using nlohmann::ordered_json;
using replay::ReplayOutcome;
using replay::ReplayResult;

ordered_json OrNull(const std::optional<uint64_t>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json FailureJson(const ReplayOutcome& outcome) {
  if (!outcome.first_failure) return nullptr;
  return {{"event", outcome.first_failure->sequence},
          {"requested", outcome.first_failure->requested}};
}

ordered_json FiguresOf(const ReplayOutcome& outcome) {
  return {{"device", outcome.device},
          {"card", OrNull(outcome.card)},
          {"fits", outcome.fits},
          {"failures", outcome.failures},
          {"first_failure", FailureJson(outcome)},
          {"peak_allocated", outcome.peak_allocated},
          {"peak_reserved", outcome.peak_reserved},
          {"smallest_card", outcome.smallest_card},
          {"allocations", outcome.allocations},
          {"ends_in_failure", outcome.ends_in_failure},
          {"compared", OrNull(outcome.compared)},
          {"placed_as_recorded", OrNull(outcome.placed_as_recorded)},
          {"guessed_pools", outcome.guessed_pools},
          {"driver_calls", ordered_json(outcome.calls)}};
}

std::string ReplayHead() {
  return LeftAligned(Message("CARD"), 6) + RightAligned(Message("SIZE"), 12) +
         RightAligned(Message("FITS"), 6) + RightAligned(Message("PEAK ALLOCATED"), 16) +
         RightAligned(Message("PEAK RESERVED"), 16) + RightAligned(Message("SMALLEST CARD"), 16) +
         RightAligned(Message("ALLOCATIONS"), 14) + "\n";
}

std::string Row(const ReplayOutcome& outcome) {
  const std::string card = outcome.card ? FormatBytes(*outcome.card) : Message("unlimited");
  return LeftAligned("  " + std::to_string(outcome.device), 6) + RightAligned(card, 12) +
         RightAligned(outcome.fits ? Message("yes") : Message("no"), 6) +
         RightAligned(FormatBytes(outcome.peak_allocated), 16) +
         RightAligned(FormatBytes(outcome.peak_reserved), 16) +
         RightAligned(FormatBytes(outcome.smallest_card), 16) +
         RightAligned(FormatCount(outcome.allocations), 14) + "\n";
}

std::string EndText(const ReplayOutcome& outcome) {
  if (!outcome.ends_in_failure) return "";
  return Message(
      "Card $0: the recorded run ran out of memory and ended. What it would have requested later "
      "is not known and not in these figures.",
      outcome.device);
}

std::string FailureText(const ReplayOutcome& outcome) {
  if (outcome.failures == 0) return "";
  std::string count =
      CountedMessage(outcome.failures, "Card $0: 1 request failed.", "Card $0: $1 requests failed.",
                     outcome.device, FormatCount(outcome.failures));
  if (!outcome.first_failure) return count;
  return JoinedSentences({count, Message("The first one is event $0, a request for $1.",
                                         FormatCount(outcome.first_failure->sequence),
                                         FormatBytes(outcome.first_failure->requested))});
}

std::string PlacementText(const ReplayOutcome& outcome) {
  if (!outcome.placed_as_recorded) return "";
  const uint64_t compared = outcome.compared.value_or(0);
  std::string older;
  if (const uint64_t count = outcome.allocations - compared; count > 0) {
    older =
        CountedMessage(count, "1 allocation is not compared: its segment is older than the trace.",
                       "$0 allocations are not compared: their segments are older than the trace.",
                       FormatCount(count));
  }
  std::string guessed;
  if (outcome.guessed_pools > 0) {
    guessed = CountedMessage(outcome.guessed_pools, "1 private pool is guessed.",
                             "$0 private pools are guessed.", FormatCount(outcome.guessed_pools));
  }
  return JoinedSentences(
      {Message("Card $0: $1 of $2 allocations are placed where they were recorded.", outcome.device,
               FormatCount(*outcome.placed_as_recorded), FormatCount(compared)),
       older, guessed});
}

std::string CallText(const ReplayOutcome& outcome) {
  std::string calls;
  for (const auto& [name, count] : outcome.calls) {
    if (count == 0) continue;
    calls += (calls.empty() ? "" : ", ") + name + " " + FormatCount(count);
  }
  return calls.empty() ? "" : Message("Card $0, driver calls: $1", outcome.device, calls);
}

}  // namespace

std::string TextReplay(const ReplayResult& result, const analysis::RunFacts& run) {
  const std::string banner = PartialBanner(run.completeness);
  std::string text =
      (banner.empty() ? "" : Wrapped(banner, 0) + "\n") +
      Message("$0, recorded with $1, replayed with $2", Printable(run.file),
              replay::PolicyName(result.recorded), replay::PolicyName(result.policy)) +
      "\n\n" + ReplayHead();
  for (const ReplayOutcome& outcome : result.devices) text += Row(outcome);
  text += '\n';
  for (const ReplayOutcome& outcome : result.devices) {
    for (const std::string& line :
         {EndText(outcome), FailureText(outcome), PlacementText(outcome), CallText(outcome)}) {
      if (!line.empty()) text += Wrapped("  " + line, 4);
    }
  }
  return text;
}

std::string JsonReplay(const ReplayResult& result, const analysis::RunFacts& run) {
  ordered_json all;
  all["schema"] = "memtrace.replay/1";
  all["policy"] = replay::PolicyName(result.policy);
  all["recorded"] = replay::PolicyName(result.recorded);
  all.update(FiguresOf(result.fullest()));
  ordered_json devices = ordered_json::array();
  for (const ReplayOutcome& outcome : result.devices) {
    ordered_json device{{"policy", replay::PolicyName(result.policy)}};
    device.update(FiguresOf(outcome));
    devices.push_back(device);
  }
  all["devices"] = devices;
  all["lost"] = LostJson(run.completeness);
  return JsonText(all);
}

}  // namespace memtrace::report
