// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/holder_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "tools/report/sections/variables_text.h"
#include "tools/report/words/known_bytes.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::Breakdown;
using analysis::Explanation;
using analysis::Holding;
using analysis::Share;

constexpr size_t kHolderRows = 10;
constexpr size_t kShareRows = 6;

std::string KnownText(const Breakdown& held) {
  analysis::KnownBytes known;
  for (const Share& share : held.by_role) known.Add(share.known);
  const uint64_t unknown = held.bytes - known.stated - known.inferred - known.guessed;
  if (known.stated == held.bytes) return Message("Hooks stated all roles; none is inferred.");
  std::vector<std::string> parts = {Message("$0 stated by hooks", FormatBytes(known.stated))};
  if (known.inferred > 0) parts.push_back(Message("$0 inferred (*)", FormatBytes(known.inferred)));
  if (known.guessed > 0)
    parts.push_back(Message("$0 guessed from stacks (~)", FormatBytes(known.guessed)));
  if (unknown > 0) parts.push_back(Message("$0 unknown", FormatBytes(unknown)));
  return Message("roles: $0", absl::StrJoin(parts, ", "));
}

std::string KeptText(const analysis::KeptForBackward& kept) {
  const std::string bytes = FormatBytes(kept.bytes);
  if (kept.is_eval)
    return Message(
        "A model in eval mode keeps $0 of activations for a backward pass. With torch.no_grad() "
        "around it, it keeps none.",
        bytes);
  return CountedMessage(
      kept.forwards,
      "$0 of activations is kept for a backward pass, but none ran in 1 call of the model. With "
      "torch.no_grad() around it, the model keeps none.",
      "$0 of activations is kept for a backward pass, but none ran in $1 calls of the model. With "
      "torch.no_grad() around it, the model keeps none.",
      bytes, FormatCount(kept.forwards));
}

// Names the largest group of parameters that a library made below another line than most, such as
// casts of a model that had been loaded: "c05_kbit.py:19 made parameters of lm_head (in
// peft/utils/other.py:156)." Empty if there are none, or few.
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
    return Message("$0 made parameters of $1 (in $2).", SiteWords(made.line),
                   SiteWords(holding.site), Printable(made.library));
  }
  return "";
}

std::string SinceText(const Holding& holding, const Explanation& explanation) {
  const analysis::Position& now = explanation.card_of_verdict().when.at;
  if (holding.since.step == 0) return Message("start");
  if (holding.since.step == now.step) return Message("this step");
  return Message("step $0", holding.since.step);
}

// Returns "layers.*.mlp (edited_model, model 2)".
std::string SiteText(const Holding& holding) {
  std::vector<std::string> whose;
  if (!holding.owner.empty()) whose.push_back(Printable(holding.owner));
  if (holding.model > 0) whose.push_back(Message("model $0", holding.model + 1));
  return SiteWords(holding.site) + (whose.empty() ? "" : " (" + absl::StrJoin(whose, ", ") + ")");
}

TableRow HolderRow(const Holding& holding, const std::string& line, const Explanation& explanation,
                   TableUnit unit) {
  return {.cells = {RoleWords(holding.role) + EvidenceMarks(holding.known), SiteText(holding),
                    FormatFigure(holding.bytes, unit), FormatCount(holding.blocks),
                    SinceText(holding, explanation), SiteWords(line)}};
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

// `words_of` returns the words of a share's name.
Table ShareTable(const std::string& title, const std::vector<Share>& shares, TableUnit unit,
                 std::string (*words_of)(std::string_view)) {
  Table table;
  table.title = title;
  table.beside = 10;
  table.columns = {{"", 46}, {std::string(unit.name), 9, TableColumn::Kind::kFigure}};
  const size_t shown = ShownRows(shares, kShareRows, unit);
  for (size_t i = 0; i < shown; ++i) {
    table.rows.push_back(
        {.cells = {words_of(shares[i].name), FormatFigure(shares[i].bytes, unit)}});
  }
  table.rest = MoreRowsText(shares, shown);
  return table;
}

}  // namespace

Section HolderSection(const Explanation& explanation) {
  const Breakdown& held = explanation.holders.held;
  Section section{.id = "holders", .title = Message("WHO HOLDS THE MEMORY")};
  if (held.holdings.empty()) return section;
  const TableUnit unit = UnitFor(held.bytes);
  Table table;
  table.columns = {{"", 19},
                   {"", 28, TableColumn::Kind::kPath},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {Message("blocks"), 8, TableColumn::Kind::kFigure},
                   {Message("since"), 12},
                   {Message("line"), 0, TableColumn::Kind::kPath}};
  const size_t shown = ShownRows(held.holdings, kHolderRows, unit);
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
  std::vector<Part> tables = {ShareTable(Message("by role"), breakdown.by_role, unit, RoleWords)};
  const bool owned = breakdown.by_owner.size() > 1 || breakdown.by_owner.front().name != "(none)";
  if (owned)
    tables.emplace_back(ShareTable(Message("by owner"), breakdown.by_owner, unit, SiteWords));
  tables.emplace_back(ShareTable(Message("by site"), breakdown.by_site, unit, SiteWords));
  return tables;
}

}  // namespace memtrace::report
