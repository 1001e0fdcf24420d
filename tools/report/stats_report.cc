// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/stats_report.h"

#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/report/run_header.h"
#include "tools/report/sections/activity_table.h"
#include "tools/report/sections/verdict_text.h"
#include "tools/report/words/command_words.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using nlohmann::ordered_json;

std::string CardLine(int32_t device, const analysis::CardTimeline& card) {
  return LeftAligned("  " + std::to_string(device), 8) +
         RightAligned(FormatBytes(card.live_requested), 14) +
         RightAligned(FormatBytes(card.live_allocated), 14) +
         RightAligned(FormatBytes(card.reserved), 14) + RightAligned(FormatBytes(card.peak), 14) +
         "\n";
}

// Returns the sum that torch itself states in a snapshot, which may differ from that of its blocks.
uint64_t Allocated(int32_t device, const analysis::CardTimeline& card,
                   const analysis::Annotations& annotations) {
  return analysis::AnnotatedNumber(annotations, trace::fact::kTorchAllocated.Of(device))
      .value_or(card.live_allocated);
}

// Puts roles below 1 % of the peak together.
std::string PeakText(const analysis::CardExplanation& card) {
  if (card.peak.bytes == 0) return "";
  std::string roles;
  uint64_t small = 0;
  for (const analysis::Share& share : card.peak.by_role) {
    if (share.bytes < card.peak.bytes / 100) {
      small += share.bytes;
    } else {
      roles += ", " + share.name + " " + FormatBytes(share.bytes);
    }
  }
  if (small > 0) roles += ", other " + FormatBytes(small);
  return Wrapped("  peak of card " + std::to_string(card.index) + " " +
                     DescribePosition(card.peak_at) + ": " + roles.substr(2),
                 4);
}

std::string Row(std::string_view name, const std::string& figure) {
  return "  " + LeftAligned(name, 16) + RightAligned(figure, 16) + "\n";
}

std::string FileRows(const analysis::EventCounts& counts, const analysis::RunFacts& run) {
  // Snapshots of torch before 2.2 have no times.
  std::string rows = Row("duration", counts.last_ns == 0 ? "?" : FormatSeconds(counts.last_ns));
  if (run.file_bytes == 0 || counts.events == 0) return rows;
  const auto tenths = static_cast<int64_t>(run.file_bytes * 10 / counts.events);
  return rows + Row("file", FormatBytes(run.file_bytes)) +
         Row("an event", FormatHundredths(tenths * 10) + " bytes") +
         "  (the file's bytes by its events: definitions of names and stacks included)\n";
}

// Lists moments that memtrace snapshot marked: "snapshot.3" -> "step 12".
std::string SnapshotRows(const analysis::Annotations& annotations) {
  constexpr std::string_view kKey = trace::fact::kSnapshot.prefix();
  std::string rows;
  for (auto mark = annotations.lower_bound(kKey);
       mark != annotations.end() && mark->first.rfind(kKey, 0) == 0; ++mark) {
    rows += Row("snapshot " + Printable(mark->first.substr(kKey.size())), Printable(mark->second));
  }
  return rows;
}

std::string EventRows(const analysis::EventCounts& counts, uint64_t lost) {
  return Row("all", FormatCount(counts.events)) +
         Row("allocations", FormatCount(counts.allocations)) +
         Row("frees", FormatCount(counts.frees)) + Row("labels", FormatCount(counts.relabels)) +
         Row("steps begun", FormatCount(counts.steps)) +
         Row("out of memory", FormatCount(counts.out_of_memory)) + Row("lost", FormatCount(lost));
}

}  // namespace

std::string TextStats(const analysis::Explanation& explanation, const analysis::RunFacts& run) {
  const std::string banner = PartialBanner(run.completeness);
  const std::string command = Shortened(Printable(ShortCommand(run, Columns())), Columns());
  const std::string kept = KeptBanner(run.completeness);
  std::string text = (banner.empty() ? "" : Wrapped(banner, 0) + "\n") +
                     (kept.empty() ? "" : Wrapped(kept, 0) + "\n") +
                     JoinedByDots({Printable(run.file), command});
  text += "\nCARD       requested     allocated      reserved          peak\n";
  for (const auto& [device, card] : explanation.timelines) text += CardLine(device, card);
  if (explanation.timelines.empty()) {
    text += "  nothing was allocated on a card\n";
  } else {
    text += "  (the first three at the end of the trace; the peak is of requested bytes)\n";
  }
  for (const analysis::CardExplanation& card : explanation.cards) text += PeakText(card);
  return text + "\nEVENTS\n" + EventRows(explanation.run.counts, run.completeness.lost_events) +
         ActivitySection(explanation.run.activities) + "\nTRACE\n" +
         FileRows(explanation.run.counts, run) + SnapshotRows(explanation.run.annotations);
}

std::string JsonStats(const analysis::Timeline& timeline, const analysis::RunFacts& run) {
  ordered_json devices = ordered_json::array();
  for (const auto& [device, card] : timeline.cards()) {
    devices.push_back({{"index", device},
                       {"reserved", card.reserved},
                       {"allocated", Allocated(device, card, timeline.annotations())},
                       {"peak", card.peak},
                       {"requested", card.live_requested}});
  }
  const analysis::EventCounts& counts = timeline.counts();
  ordered_json stats;
  stats["schema"] = "memtrace.stats/1";
  stats["devices"] = devices;
  stats["events"] = {{"all", counts.events},  {"allocations", counts.allocations},
                     {"frees", counts.frees}, {"labels", counts.relabels},
                     {"steps", counts.steps}, {"out_of_memory", counts.out_of_memory}};
  const analysis::ActivityWatch& activities = timeline.activities();
  if (!activities.state().empty()) stats["activities"] = ActivitiesJson(activities);
  stats["lost"] = LostJson(run.completeness);
  for (const auto& [key, value] : timeline.annotations()) {
    if (key.rfind(trace::fact::kSnapshot.prefix(), 0) == 0)
      stats["snapshots"][key.substr(9)] = value;
  }
  return JsonText(stats);
}

}  // namespace memtrace::report
