// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/stats_report.h"

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/report/run_header.h"
#include "tools/report/sections/activity_table.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/command_words.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using nlohmann::ordered_json;

std::string CardHead() {
  return LeftAligned(Message("CARD"), 8) + RightAligned(Message("requested"), 14) +
         RightAligned(Message("allocated"), 14) + RightAligned(Message("reserved"), 14) +
         RightAligned(Message("peak"), 14) + "\n";
}

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
      roles += (roles.empty() ? "" : ", ") + RoleWords(share.name) + " " + FormatBytes(share.bytes);
    }
  }
  if (small > 0) roles += (roles.empty() ? "" : ", ") + Message("other $0", FormatBytes(small));
  return Wrapped(
      "  " + Message("Peak of card $0 $1: $2", card.index, DescribePosition(card.peak_at), roles),
      4);
}

std::string Row(std::string_view name, const std::string& figure) {
  return "  " + LeftAligned(name, 16) + RightAligned(figure, 16) + "\n";
}

std::string FileRows(const analysis::EventCounts& counts, const analysis::RunFacts& run) {
  // Snapshots of torch before 2.2 have no times.
  std::string rows =
      Row(Message("duration"), counts.last_ns == 0 ? "?" : FormatSeconds(counts.last_ns));
  if (run.file_bytes == 0 || counts.events == 0) return rows;
  const auto tenths = static_cast<int64_t>(run.file_bytes * 10 / counts.events);
  return rows + Row(Message("file"), FormatBytes(run.file_bytes)) +
         Row(Message("per event"), Message("$0 bytes", FormatHundredths(tenths * 10))) + "  " +
         Message("(bytes per event include the definitions of names and stacks)") + "\n";
}

// Lists moments that memtrace snapshot marked: "snapshot.3" -> "step 12".
std::string SnapshotRows(const analysis::Annotations& annotations) {
  std::string rows;
  for (const auto& [number, moment] : analysis::AnnotatedAll(annotations, trace::fact::kSnapshot))
    rows += Row(Message("snapshot $0", Printable(number)), Printable(moment));
  return rows;
}

std::string EventRows(const analysis::EventCounts& counts, uint64_t lost) {
  return Row(Message("all"), FormatCount(counts.events)) +
         Row(Message("allocations"), FormatCount(counts.allocations)) +
         Row(Message("frees"), FormatCount(counts.frees)) +
         Row(Message("labels"), FormatCount(counts.relabels)) +
         Row(Message("steps begun"), FormatCount(counts.steps)) +
         Row(Message("out of memory"), FormatCount(counts.out_of_memory)) +
         Row(Message("lost"), FormatCount(lost));
}

}  // namespace

std::string TextStats(const analysis::Explanation& explanation, const analysis::RunFacts& run) {
  const std::string banner = PartialBanner(run.completeness);
  const std::string command = Shortened(Printable(ShortCommand(run, Columns())), Columns());
  const std::string kept = KeptBanner(run.completeness);
  std::string text = (banner.empty() ? "" : Wrapped(banner, 0) + "\n") +
                     (kept.empty() ? "" : Wrapped(kept, 0) + "\n") +
                     JoinedByDots({Printable(run.file), command});
  text += "\n" + CardHead();
  for (const auto& [device, card] : explanation.timelines) text += CardLine(device, card);
  if (explanation.timelines.empty()) {
    text += "  " + Message("Nothing was allocated on a card.") + "\n";
  } else {
    text += "  " +
            Message("(the peak is of requested bytes; the other figures are those at the end)") +
            "\n";
  }
  for (const analysis::CardExplanation& card : explanation.cards) text += PeakText(card);
  return text + "\n" + Message("EVENTS") + "\n" +
         EventRows(explanation.run.counts, run.completeness.lost_events) +
         ActivitySection(explanation.run.activities) + "\n" + Message("TRACE") + "\n" +
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
