// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/replay_report.h"

#include <optional>
#include <string_view>

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

std::string Row(const ReplayOutcome& outcome) {
  const std::string card = outcome.card ? FormatBytes(*outcome.card) : "no end";
  return LeftAligned("  " + std::to_string(outcome.device), 6) + RightAligned(card, 12) +
         RightAligned(outcome.fits ? "yes" : "no", 6) +
         RightAligned(FormatBytes(outcome.peak_allocated), 16) +
         RightAligned(FormatBytes(outcome.peak_reserved), 16) +
         RightAligned(FormatBytes(outcome.smallest_card), 16) +
         RightAligned(FormatCount(outcome.allocations), 14) + "\n";
}

std::string CardName(const ReplayOutcome& outcome) {
  return "card " + std::to_string(outcome.device);
}

std::string FailureSentence(const ReplayOutcome& outcome) {
  if (outcome.failures == 0) return "";
  std::string sentence = CardName(outcome) + ": " + FormatCount(outcome.failures) +
                         (outcome.failures == 1 ? " request was" : " requests were") +
                         " not served";
  if (outcome.first_failure) {
    sentence += ", the first, event " + FormatCount(outcome.first_failure->sequence) + ", of " +
                FormatBytes(outcome.first_failure->requested);
  }
  return Wrapped("  " + sentence, 4);
}

std::string EndSentence(const ReplayOutcome& outcome) {
  if (!outcome.ends_in_failure) return "";
  return Wrapped("  " + CardName(outcome) +
                     ": the recorded run ended in an out-of-memory; what it would have requested "
                     "after it is not known and in none of these figures",
                 4);
}

std::string GuessedPools(uint32_t pools) {
  if (pools == 0) return "";
  return "; " + FormatCount(pools) + (pools == 1 ? " private pool" : " private pools") + " guessed";
}

std::string PlacementSentence(const ReplayOutcome& outcome) {
  if (!outcome.placed_as_recorded) return "";
  const uint64_t older = outcome.allocations - outcome.compared.value_or(0);
  return Wrapped(
      "  " + CardName(outcome) + ": " + FormatCount(*outcome.placed_as_recorded) + " of " +
          FormatCount(outcome.compared.value_or(0)) + " allocations where they were recorded" +
          (older == 0
               ? ""
               : "; " + FormatCount(older) + " in segments older than the trace, not compared") +
          GuessedPools(outcome.guessed_pools),
      4);
}

std::string CallSentence(const ReplayOutcome& outcome) {
  std::string calls;
  for (const auto& [name, count] : outcome.calls) {
    if (count == 0) continue;
    calls += (calls.empty() ? "" : ", ") + name + " " + FormatCount(count);
  }
  if (calls.empty()) return "";
  return Wrapped("  " + CardName(outcome) + ", driver calls: " + calls, 4);
}

}  // namespace

std::string TextReplay(const ReplayResult& result, const analysis::RunFacts& run) {
  const std::string banner = PartialBanner(run.completeness);
  std::string text = (banner.empty() ? "" : Wrapped(banner, 0) + "\n") + Printable(run.file);
  text += ", recorded with " + std::string(replay::PolicyName(result.recorded)) +
          ", replayed with " + std::string(replay::PolicyName(result.policy)) + "\n";
  text +=
      "\nCARD          SIZE  FITS  PEAK ALLOCATED   PEAK RESERVED   SMALLEST CARD   ALLOCATIONS\n";
  for (const ReplayOutcome& outcome : result.devices) text += Row(outcome);
  text += '\n';
  for (const ReplayOutcome& outcome : result.devices) {
    text += EndSentence(outcome) + FailureSentence(outcome) + PlacementSentence(outcome) +
            CallSentence(outcome);
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
