// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/activity_table.h"

#include <algorithm>
#include <utility>

#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::ActivityWatch;
using analysis::IdleBlocks;
using analysis::IdleSite;
using nlohmann::ordered_json;

constexpr size_t kRows = 5;

std::string ReasonInBrackets(const ActivityWatch& activities) {
  return activities.reason().empty() ? "" : " (" + Printable(activities.reason()) + ")";
}

std::string CountLine(std::string_view name, const std::string& figure) {
  return "  " + LeftAligned(name, 16) + RightAligned(figure, 16) + "\n";
}

TableRow RowOf(const IdleSite& site, TableUnit unit) {
  std::string role(RoleName(site.role));
  if (site.role != trace::Role::kUnknown) role += '*';
  return {.cells = {role, Printable(site.site), FormatFigure(site.bytes, unit),
                    FormatCount(site.blocks),
                    site.last_step == 0 ? "start" : "step " + std::to_string(site.last_step),
                    FormatSeconds(site.idle_ns)}};
}

// Some small blocks are always idle: counters, random states.
bool HasNotableIdleBlocks(const analysis::ExplainedHolders& holders) {
  if (!holders.idle || holders.idle->bytes == 0) return false;
  return holders.idle->bytes >= holders.held.bytes / 100;
}

}  // namespace

std::string ActivityText(const ActivityWatch& activities) {
  if (activities.state().empty()) return "";
  if (!activities.was_on())
    return "no kernels: CUPTI is " + Printable(activities.state()) + ReasonInBrackets(activities);
  std::string text = FormatCounted(activities.kernels(), "kernel") + " by CUPTI";
  if (activities.gaps() > 0)
    text += ", none for " + FormatSeconds(activities.gap_ns()) + ReasonInBrackets(activities);
  if (activities.dropped() > 0)
    text += ", " + FormatCounted(activities.dropped(), "record") + " DROPPED by it";
  return text;
}

std::string ActivitySection(const ActivityWatch& activities) {
  if (activities.state().empty()) return "";
  std::string rows = "\nCARD ACTIVITY\n";
  rows += Wrapped("  " + ActivityText(activities), 4);
  if (!activities.was_on()) return rows;
  rows += CountLine("kernels", FormatCount(activities.kernels())) +
          CountLine("copies", FormatCount(activities.copies())) +
          CountLine("fills", FormatCount(activities.fills()));
  for (const auto& [device, time] : activities.kernel_time())
    rows += CountLine("busy, card " + std::to_string(device), FormatSeconds(time.total()));
  return rows;
}

ordered_json ActivitiesJson(const ActivityWatch& activities) {
  ordered_json busy = ordered_json::array();
  for (const auto& [device, time] : activities.kernel_time())
    busy.push_back({{"index", device}, {"busy_ns", time.total()}});
  return {{"state", activities.state()},
          {"reason", activities.reason()},
          {"kernels", activities.kernels()},
          {"tied_kernels", activities.tied_kernels()},
          {"copies", activities.copies()},
          {"fills", activities.fills()},
          {"cards", busy},
          {"gaps", activities.gaps()},
          {"gap_ns", activities.gap_ns()},
          {"dropped", activities.dropped()}};
}

std::string IdleSentence(const analysis::ExplainedHolders& holders) {
  if (!HasNotableIdleBlocks(holders)) return "";
  const IdleBlocks& idle = *holders.idle;
  return "By then " + FormatBytes(idle.bytes) + " in " + FormatCounted(idle.blocks, "block") +
         " had not been written since an earlier step, for at least " +
         FormatSeconds(idle.idle_ns) + " (inferred from kernels; reads are not seen).";
}

Section IdleSection(const analysis::ExplainedHolders& holders) {
  Section section{.id = "idle", .title = "NOT WRITTEN SINCE AN EARLIER STEP"};
  if (!HasNotableIdleBlocks(holders)) return section;
  const IdleBlocks& idle = *holders.idle;
  const TableUnit unit = UnitFor(idle.bytes);
  Table table;
  table.columns = {{"", 17},
                   {"", 22},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {"blocks", 8, TableColumn::Kind::kFigure},
                   {"written", 10},
                   {"before", 10}};
  const size_t shown = std::min(idle.sites.size(), kRows);
  uint64_t rest = idle.bytes;
  for (size_t i = 0; i < shown; ++i) {
    table.rows.push_back(RowOf(idle.sites[i], unit));
    rest -= idle.sites[i].bytes;
  }
  if (idle.sites.size() > shown) table.rest = FormatRest(idle.sites.size() - shown, rest);
  std::string limits =
      "inferred: a block is written at its allocation and by what its thread launches until the "
      "next one; reads are not seen; what hooks say the role of is left out";
  if (idle.unknown_bytes > 0)
    limits += "; " + FormatBytes(idle.unknown_bytes) +
              " are older, too, but CUPTI was not listened to all the time since";
  section.parts = {std::move(table), Note{limits}};
  return section;
}

ordered_json IdleJson(const IdleBlocks& idle) {
  ordered_json sites = ordered_json::array();
  for (const IdleSite& site : idle.sites) {
    sites.push_back({{"role", std::string(RoleName(site.role))},
                     {"site", site.site},
                     {"bytes", site.bytes},
                     {"blocks", site.blocks},
                     {"last_step", site.last_step},
                     {"idle_ns", site.idle_ns}});
  }
  return {{"bytes", idle.bytes},     {"blocks", idle.blocks},
          {"idle_ns", idle.idle_ns}, {"unknown_bytes", idle.unknown_bytes},
          {"how_known", "inferred"}, {"sites", sites}};
}

}  // namespace memtrace::report
