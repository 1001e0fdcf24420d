// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/plan_report.h"

#include <cmath>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/run_header.h"
#include "tools/report/words/command_words.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::MemoryPlan;
using analysis::StreamPlan;
using nlohmann::ordered_json;

int64_t TimesInHundredths(const StreamPlan& stream) {
  return static_cast<int64_t>(std::floor(stream.repetition.times() * 100));
}

std::string Row(const StreamPlan& stream) {
  const bool repeats = stream.repetition.period > 0;
  const std::string step = repeats ? FormatCount(stream.repetition.period) : "-";
  const std::string seen = repeats ? FormatHundredths(TimesInHundredths(stream)) : "-";
  return LeftAligned("  " + std::to_string(stream.section.device), 6) +
         LeftAligned(std::to_string(stream.section.stream), 8) + RightAligned(step, 14) +
         RightAligned(seen, 12) + RightAligned(FormatBytes(stream.section.bytes), 14) +
         RightAligned(FormatBytes(stream.lower_bound), 14) + "\n";
}

std::string PlanHead() {
  return LeftAligned(Message("CARD"), 6) + LeftAligned(Message("STREAM"), 8) +
         RightAligned(Message("ALLOCS/STEP"), 14) + RightAligned(Message("STEPS SEEN"), 12) +
         RightAligned(Message("PLANNED"), 14) + RightAligned(Message("LOWER BOUND"), 14) + "\n";
}

std::string Sentences(const StreamPlan& stream) {
  const PlanSection& section = stream.section;
  if (stream.ends_in_failure) {
    return Message(
        "Card $0, stream $1: the run ran out of memory and ended. All of it is planned, including "
        "the request that failed. What it would have requested later is not known.",
        section.device, section.stream);
  }
  if (stream.repetition.period == 0) {
    return Message(
        "Card $0, stream $1: nothing repeats, so the run is planned once, from its beginning to "
        "its end.",
        section.device, section.stream);
  }
  std::string cycle = Message(
      "Card $0, stream $1: $2 of the planned allocations come once, then $3 repeat.",
      section.device, section.stream, FormatCount(section.prologue), FormatCount(section.cycle()));
  const size_t steps = section.cycle() / stream.repetition.period;
  if (steps <= 1) return cycle;
  return JoinedSentences(
      {cycle,
       Message("The repeated part is $0 steps long, because some blocks outlive the next step.",
               steps)});
}

// Rounds down, so that it is 100 only if `part` is all of it.
std::string Percent(Bytes part, Bytes whole) {
  if (whole == 0) return "0.00";
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  return FormatHundredths(static_cast<int64_t>(std::floor(share * 10'000)));
}

Bytes PlannedRequests(const MemoryPlan& plan) {
  Bytes sum = 0;
  for (const StreamPlan& stream : plan.streams) sum += stream.planned;
  return sum;
}

std::string CardSentence(const MemoryPlan& plan, int32_t device, Bytes reserved) {
  Bytes planned = 0;
  for (const StreamPlan& stream : plan.streams) {
    if (stream.section.device == device) planned += stream.section.bytes;
  }
  return Message("Card $0: $1 planned. The run reserved at most $2, including small blocks.",
                 device, FormatBytes(planned), FormatBytes(reserved));
}

}  // namespace

std::string TextPlan(const MemoryPlan& plan, const analysis::RunFacts& run) {
  const std::string banner = PartialBanner(run.completeness);
  const std::string command = Shortened(Printable(ShortCommand(run, Columns())), Columns());
  std::string text = (banner.empty() ? "" : Wrapped(banner, 0) + "\n") +
                     JoinedByDots({Printable(run.file), command});
  text += "\n" + PlanHead();
  for (const StreamPlan& stream : plan.streams) text += Row(stream);
  text += '\n';
  for (const StreamPlan& stream : plan.streams) text += Wrapped("  " + Sentences(stream), 4);
  for (const auto& [device, reserved] : plan.reserved) {
    text += Wrapped("  " + CardSentence(plan, device, reserved), 4);
  }
  return text + Wrapped("  " + Message("$0 of the requested bytes have a place in the plan.",
                                       Percent(PlannedRequests(plan), plan.requested) + " %"),
                        4);
}

std::string JsonPlan(const MemoryPlan& plan, const analysis::RunFacts& run) {
  ordered_json streams = ordered_json::array();
  for (const StreamPlan& stream : plan.streams) {
    streams.push_back({{"device", stream.section.device},
                       {"stream", stream.section.stream},
                       {"planned", stream.section.bytes},
                       {"lower_bound", stream.lower_bound},
                       {"is_optimal", stream.is_optimal},
                       {"prologue", stream.section.prologue},
                       {"cycle", stream.section.cycle()},
                       {"step", stream.repetition.period},
                       {"steps_seen", stream.repetition.times()},
                       {"ends_in_failure", stream.ends_in_failure},
                       {"allocations", stream.requests}});
  }
  ordered_json devices = ordered_json::array();
  for (const auto& [device, reserved] : plan.reserved) {
    devices.push_back({{"index", device}, {"reserved_peak", reserved}});
  }
  ordered_json all;
  all["schema"] = "memtrace.plan/1";
  all["streams"] = streams;
  all["devices"] = devices;
  all["requested"] = plan.requested;
  all["requested_with_place"] = PlannedRequests(plan);
  all["lost"] = LostJson(run.completeness);
  return JsonText(all);
}

std::string PlanLine(const analysis::RunFacts& run) {
  if (run.plan.empty()) return "";
  const uint64_t all = run.placed + run.placed_elsewhere;
  return Message("$0 of $1 large allocations were placed as in $2", FormatCount(run.placed),
                 FormatCount(all), Printable(run.plan));
}

}  // namespace memtrace::report
