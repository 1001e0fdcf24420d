// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/kind_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "messages/message.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/rank_words.h"

namespace memtrace::report {
namespace {

using analysis::Job;
using analysis::ProcessView;
using analysis::RankKind;
using Kind = TableColumn::Kind;

// Says how the processes of the kind ended, if that is not as it should be.
std::string EndOf(const ProcessView& view) {
  if (view.first_failure) return Message("OOM");
  if (!view.end_is_known()) return Message("cut");
  return view.exception.empty() ? "" : Message("error");
}

std::string RanksOf(const RankKind& kind) { return kind.ranks ? Message("x $0", *kind.ranks) : ""; }

TableUnit UnitOf(const Job& job) {
  uint64_t largest = 0;
  for (const ProcessView& view : job.processes)
    largest = std::max({largest, view.allocated, view.reserved, view.used.value_or(0)});
  return UnitFor(largest);
}

// A column that is left out on a narrow terminal.
struct Cell {
  std::string title;
  size_t width = 0;
  std::string text;
  Kind kind = Kind::kFigure;
  bool is_spare = false;
};

// Returns the columns that the names of kinds need, such as "ranks 0, 256"; long lists are cut.
size_t NameWidth(const Job& job, bool is_narrow) {
  constexpr size_t kLeast = 11;
  const size_t most = is_narrow ? 16 : 24;
  size_t width = kLeast;
  for (const RankKind& kind : job.kinds) width = std::max(width, Width(KindName(job, kind)) + 1);
  return std::min(width, most);
}

std::vector<Cell> CellsOf(const Job& job, const RankKind& kind, TableUnit unit, size_t name_width) {
  const ProcessView& view = job.processes[kind.first()];
  const std::string used = view.used ? FormatFigure(*view.used, unit) : "?";
  const std::string percent = UsedPercent(view);
  return {{"", name_width, KindName(job, kind), Kind::kText},
          {"", 23, PlaceOfKind(job, kind), Kind::kText},
          {Message("ranks"), 7, RanksOf(kind)},
          {Message("allocated"), 10, FormatFigure(view.allocated, unit)},
          {Message("reserved"), 9, FormatFigure(view.reserved, unit), Kind::kFigure, true},
          {Message("NCCL"), 8, FormatFigure(view.nccl, unit), Kind::kFigure, true},
          {Message("used $0", unit.name), 9, used},
          {Message("of card"), 8, percent.empty() ? "?" : percent},
          {Message("steps"), 6, FormatCount(view.steps), Kind::kFigure, true},
          {"", 6, EndOf(view), Kind::kText}};
}

std::string RestOf(const Job& job, size_t most) {
  const size_t more = job.kinds.size() - most;
  return CountedMessage(more, "1 more kind", "$0 more kinds", FormatCount(more));
}

}  // namespace

Section KindSection(const Job& job, size_t most, bool is_narrow) {
  const TableUnit unit = UnitOf(job);
  const size_t name_width = NameWidth(job, is_narrow);
  Table table;
  for (size_t i = 0; i < job.kinds.size() && i < most; ++i) {
    TableRow& row = table.rows.emplace_back();
    for (const Cell& cell : CellsOf(job, job.kinds[i], unit, name_width)) {
      if (cell.is_spare && is_narrow) continue;
      if (i == 0) table.columns.push_back({cell.title, cell.width, cell.kind});
      row.cells.push_back(cell.text);
    }
  }
  if (job.kinds.size() > most) table.rest = RestOf(job, most);
  Section section{.id = "kinds", .title = Message("KINDS OF RANKS")};
  if (!table.rows.empty()) section.parts.emplace_back(std::move(table));
  return section;
}

}  // namespace memtrace::report
