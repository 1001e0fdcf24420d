// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/activity_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::ActivityWatch;
using analysis::IdleBlocks;
using analysis::IdleSite;
using nlohmann::ordered_json;

constexpr size_t kIdleRows = 5;

std::string StateWords(const std::string& state) {
  for (const std::string_view known : {Marked("absent"), Marked("paused"), Marked("refused")})
    if (state == known) return MessageOf(known);
  return Printable(state);
}

std::string NoKernelsText(const ActivityWatch& activities) {
  const std::string state = StateWords(activities.state());
  if (activities.reason().empty()) return Message("CUPTI recorded no kernels: it is $0", state);
  return Message("CUPTI recorded no kernels: it is $0 ($1)", state, Printable(activities.reason()));
}

std::string GapText(const ActivityWatch& activities) {
  const std::string time = FormatSeconds(activities.gap_ns());
  if (activities.reason().empty()) return Message("it did not record for $0", time);
  return Message("it did not record for $0 ($1)", time, Printable(activities.reason()));
}

std::string CountLine(std::string_view name, const std::string& figure) {
  return "  " + LeftAligned(name, 16) + RightAligned(figure, 16) + "\n";
}

TableRow RowOf(const IdleSite& site, TableUnit unit) {
  std::string role = RoleWords(site.role);
  if (site.role != trace::Role::kUnknown) role += '*';
  return {.cells = {role, SiteWords(site.site), FormatFigure(site.bytes, unit),
                    FormatCount(site.blocks),
                    site.last_step == 0 ? Message("start") : Message("step $0", site.last_step),
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
  if (!activities.was_on()) return NoKernelsText(activities);
  std::vector<std::string> clauses = {
      CountedMessage(activities.kernels(), "CUPTI recorded 1 kernel", "CUPTI recorded $0 kernels",
                     FormatCount(activities.kernels()))};
  if (activities.gaps() > 0) clauses.push_back(GapText(activities));
  if (activities.dropped() > 0) {
    clauses.push_back(CountedMessage(activities.dropped(), "it DROPPED 1 record",
                                     "it DROPPED $0 records", FormatCount(activities.dropped())));
  }
  return absl::StrJoin(clauses, " · ");
}

std::string ActivitySection(const ActivityWatch& activities) {
  if (activities.state().empty()) return "";
  std::string rows = "\n" + Message("CARD ACTIVITY") + "\n";
  rows += Wrapped("  " + ActivityText(activities), 4);
  if (!activities.was_on()) return rows;
  rows += CountLine(Message("kernels"), FormatCount(activities.kernels())) +
          CountLine(Message("copies"), FormatCount(activities.copies())) +
          CountLine(Message("fills"), FormatCount(activities.fills()));
  for (const auto& [device, time] : activities.kernel_time())
    rows += CountLine(Message("busy, card $0", device), FormatSeconds(time.total()));
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
  return CountedMessage(
      idle.blocks,
      "At that moment $0 (1 block) had not been written since an earlier step, for at least $2. "
      "This is inferred from kernels; reads are not seen.",
      "At that moment $0 ($1 blocks) had not been written since an earlier step, for at least $2. "
      "This is inferred from kernels; reads are not seen.",
      FormatBytes(idle.bytes), FormatCount(idle.blocks), FormatSeconds(idle.idle_ns));
}

Section IdleSection(const analysis::ExplainedHolders& holders) {
  Section section{.id = "idle", .title = Message("NOT WRITTEN SINCE AN EARLIER STEP")};
  if (!HasNotableIdleBlocks(holders)) return section;
  const IdleBlocks& idle = *holders.idle;
  const TableUnit unit = UnitFor(idle.bytes);
  Table table;
  table.columns = {{"", 19},
                   {"", 0},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {Message("blocks"), 8, TableColumn::Kind::kFigure},
                   {Message("written"), 10},
                   {Message("idle for"), 10}};
  const size_t shown = std::min(idle.sites.size(), kIdleRows);
  uint64_t rest = idle.bytes;
  for (size_t i = 0; i < shown; ++i) {
    table.rows.push_back(RowOf(idle.sites[i], unit));
    rest -= idle.sites[i].bytes;
  }
  if (idle.sites.size() > shown) table.rest = FormatRest(idle.sites.size() - shown, rest);
  const std::string limits = Message(
      "Inferred: a block counts as written when it is allocated, and by what its thread launches "
      "until the next allocation. Reads are not seen. Blocks whose role hooks state are left out.");
  const std::string unknown =
      idle.unknown_bytes == 0
          ? ""
          : Message(
                "$0 more was last seen written in an earlier step, but CUPTI did not record all "
                "the time since then.",
                FormatBytes(idle.unknown_bytes));
  section.parts = {std::move(table), Note{JoinedSentences({limits, unknown})}};
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
