// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/holder_table.h"

#include <algorithm>
#include <utility>

#include "tools/report/sections/variables_text.h"
#include "tools/report/words/known_bytes.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Breakdown;
using analysis::Explanation;
using analysis::Holding;
using analysis::Share;

constexpr size_t kRows = 10;
constexpr size_t kShareRows = 6;

std::string KnownText(const Breakdown& held) {
  analysis::KnownBytes known;
  for (const Share& share : held.by_role) known.Add(share.known);
  const uint64_t unknown = held.bytes - known.stated - known.inferred - known.guessed;
  if (known.stated == held.bytes) return "roles stated by hooks, none inferred";
  std::string text = "roles: " + FormatBytes(known.stated) + " stated by hooks";
  if (known.inferred > 0) text += ", " + FormatBytes(known.inferred) + " inferred (*)";
  if (known.guessed > 0) text += ", " + FormatBytes(known.guessed) + " guessed from stacks (~)";
  if (unknown > 0) text += ", " + FormatBytes(unknown) + " unknown";
  return text;
}

std::string KeptText(const analysis::KeptForBackward& kept) {
  if (kept.is_eval)
    return FormatBytes(kept.bytes) +
           " of activations are kept for a backward pass by a model in eval mode: torch.no_grad() "
           "around it keeps none";
  return FormatBytes(kept.bytes) +
         " of activations are kept for a backward pass, and none ran in " +
         FormatCounted(kept.forwards, "call") +
         " of the model: torch.no_grad() around it keeps none";
}

// Names the largest group of parameters that a library made below another line than most, such as
// casts of a model that had been loaded: "c05_kbit.py:19 made parameters of lm_head, in
// peft/utils/other.py:156". Empty if there are none, or few.
std::string RemadeParametersText(const Explanation& explanation) {
  constexpr uint64_t kPart = 100;
  const Breakdown& held = explanation.holders.held;
  const analysis::HolderLine* first = nullptr;  // of most parameters
  for (size_t i = 0; i < held.holdings.size(); ++i) {
    const Holding& holding = held.holdings[i];
    if (holding.role != trace::Role::kParameter) continue;
    const analysis::HolderLine& made = explanation.holders.lines[i];
    if (first == nullptr) first = &made;
    if (made.library.empty() || made.line == first->line ||
        !explanation.holders.is_of_weight(holding.bytes, kPart))
      continue;
    return Printable(made.line) + " made parameters of " + Printable(holding.site) + ", in " +
           Printable(made.library);
  }
  return "";
}

std::string SinceText(const Holding& holding, const Explanation& explanation) {
  const analysis::Position& now = explanation.card_of_verdict().when.at;
  if (holding.since.step == 0) return "start";
  if (holding.since.step == now.step) return "this step";
  return "step " + std::to_string(holding.since.step);
}

// Returns "layers.*.mlp (edited_model, model 2)".
std::string SiteText(const Holding& holding) {
  std::string whose = Printable(holding.owner);
  if (holding.model > 0)
    whose += (whose.empty() ? "model " : ", model ") + std::to_string(holding.model + 1);
  return Printable(holding.site) + (whose.empty() ? "" : " (" + whose + ")");
}

TableRow HolderRow(const Holding& holding, const std::string& line, const Explanation& explanation,
                   TableUnit unit) {
  return {.cells = {std::string(RoleName(holding.role)) + EvidenceMarks(holding.known),
                    SiteText(holding), FormatFigure(holding.bytes, unit),
                    FormatCount(holding.blocks), SinceText(holding, explanation), Printable(line)}};
}

// Returns how many of `rows`, largest first, are shown: at most `most`, and none that would print
// as 0.00 unless all do.
template <typename Row>
size_t ShownRows(const std::vector<Row>& rows, size_t most, TableUnit unit) {
  size_t shown = 0;
  while (shown < std::min(rows.size(), most) &&
         (shown == 0 || Hundredths(static_cast<int64_t>(rows[shown].bytes), unit) > 0)) {
    ++shown;
  }
  return shown;
}

// Returns "3 more, 1.5 MiB" for the rows left out; empty if there are none.
template <typename Row>
std::string MoreRowsText(const std::vector<Row>& rows, size_t shown) {
  if (rows.size() <= shown) return "";
  uint64_t bytes = 0;
  for (size_t i = shown; i < rows.size(); ++i) bytes += rows[i].bytes;
  return FormatRest(rows.size() - shown, bytes);
}

Table ShareTable(std::string_view title, const std::vector<Share>& shares, TableUnit unit) {
  Table table;
  table.title = title;
  table.beside = 10;
  table.columns = {{"", 46}, {std::string(unit.name), 9, TableColumn::Kind::kFigure}};
  const size_t shown = ShownRows(shares, kShareRows, unit);
  for (size_t i = 0; i < shown; ++i) {
    table.rows.push_back(
        {.cells = {Printable(shares[i].name), FormatFigure(shares[i].bytes, unit)}});
  }
  table.rest = MoreRowsText(shares, shown);
  return table;
}

}  // namespace

Section HolderSection(const Explanation& explanation) {
  const Breakdown& held = explanation.holders.held;
  Section section{.id = "holders", .title = "WHO HOLDS IT"};
  if (held.holdings.empty()) return section;
  const TableUnit unit = UnitFor(held.bytes);
  Table table;
  table.columns = {{"", 17},
                   {"", 28, TableColumn::Kind::kPath},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {"blocks", 8, TableColumn::Kind::kFigure},
                   {"since", 12},
                   {"first line", 0, TableColumn::Kind::kPath}};
  const size_t shown = ShownRows(held.holdings, kRows, unit);
  for (size_t i = 0; i < shown; ++i) {
    table.rows.push_back(
        HolderRow(held.holdings[i], explanation.holders.lines[i].line, explanation, unit));
  }
  table.rest = MoreRowsText(held.holdings, shown);
  section.parts = {std::move(table), Note{KnownText(held)}};
  if (std::string variables = VariablesText(explanation.failure.variables, explanation.holders);
      !variables.empty())
    section.parts.emplace_back(Note{std::move(variables)});
  if (std::string made = RemadeParametersText(explanation); !made.empty())
    section.parts.emplace_back(Note{std::move(made)});
  const auto& kept = explanation.kept.kept_for_backward;
  if (kept && kept->is_in_vain()) section.parts.emplace_back(Note{KeptText(*kept)});
  return section;
}

std::vector<Part> ShareTables(const Breakdown& breakdown) {
  const TableUnit unit = UnitFor(breakdown.bytes);
  std::vector<Part> tables = {ShareTable("by role", breakdown.by_role, unit)};
  const bool owned = breakdown.by_owner.size() > 1 || breakdown.by_owner.front().name != "(none)";
  if (owned) tables.emplace_back(ShareTable("by owner", breakdown.by_owner, unit));
  tables.emplace_back(ShareTable("by site", breakdown.by_site, unit));
  return tables;
}

}  // namespace memtrace::report
