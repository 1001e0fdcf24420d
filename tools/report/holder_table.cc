// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/holder_table.h"

#include <algorithm>

#include "tools/report/known_bytes.h"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Breakdown;
using analysis::Explanation;
using analysis::Holding;
using analysis::Share;

constexpr size_t kRows = 10;
constexpr size_t kShareRows = 6;
constexpr size_t kColumnsForLines = 92;  // on narrower terminals the lines are left out

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

std::string SinceText(const Holding& holding, const Explanation& explanation) {
  const analysis::Position& now = explanation.cards[explanation.card].when.at;
  if (holding.since.step == 0) return "start";
  if (holding.since.step == now.step) return "this step";
  return "step " + std::to_string(holding.since.step);
}

std::string HolderLine(const Holding& holding, const std::string& line,
                       const Explanation& explanation, TableUnit unit) {
  std::string role(RoleName(holding.role));
  role += EvidenceMarks(holding.known);
  const int64_t hundredths = Hundredths(static_cast<int64_t>(holding.bytes), unit);
  std::string text = "  " + LeftAligned(role, 17) + LeftAligned(Printable(holding.site), 28) +
                     RightAligned(FormatHundredths(hundredths), 9) +
                     RightAligned(FormatCount(holding.blocks), 8) + "  " +
                     LeftAligned(SinceText(holding, explanation), 10);
  if (!line.empty() && Columns() >= kColumnsForLines)
    text += "  " + ShortenedFront(Printable(line), Columns() - Width(text) - 2);
  while (text.back() == ' ') text.pop_back();
  return text + "\n";
}

// How many of `rows`, largest first, are shown: at most `most`, and none that would print as 0.00
// unless all do.
template <typename Row>
size_t ShownRows(const std::vector<Row>& rows, size_t most, TableUnit unit) {
  size_t shown = 0;
  while (shown < std::min(rows.size(), most) &&
         (shown == 0 || Hundredths(static_cast<int64_t>(rows[shown].bytes), unit) > 0)) {
    ++shown;
  }
  return shown;
}

// What is left out below; empty if nothing is.
template <typename Row>
std::string RestLine(const std::vector<Row>& rows, size_t shown) {
  if (rows.size() <= shown) return "";
  uint64_t bytes = 0;
  for (size_t i = shown; i < rows.size(); ++i) bytes += rows[i].bytes;
  return "… " + FormatCount(rows.size() - shown) + " more, " + FormatBytes(bytes) + "\n";
}

std::string ShareTable(std::string_view title, const std::vector<Share>& shares, TableUnit unit) {
  const size_t shown = ShownRows(shares, kShareRows, unit);
  std::string table;
  for (size_t i = 0; i < shown; ++i) {
    const int64_t hundredths = Hundredths(static_cast<int64_t>(shares[i].bytes), unit);
    table += "  " + LeftAligned(i == 0 ? title : "", 10) +
             LeftAligned(Printable(shares[i].name), 46) +
             RightAligned(FormatHundredths(hundredths), 9) +
             (i == 0 ? " " + std::string(unit.name) : "") + "\n";
  }
  const std::string rest = RestLine(shares, shown);
  return table + (rest.empty() ? "" : std::string(12, ' ') + rest);
}

}  // namespace

std::string HolderTable(const Explanation& explanation) {
  const Breakdown& held = explanation.held;
  if (held.holdings.empty()) return "";
  const TableUnit unit = UnitFor(held.bytes);
  std::string table = "\n" + LeftAligned("WHO HOLDS IT", 47) + RightAligned(unit.name, 9) +
                      RightAligned("blocks", 8) + "  " + "since" +
                      (Columns() >= kColumnsForLines ? "       first line\n" : "\n");
  const size_t shown = ShownRows(held.holdings, kRows, unit);
  for (size_t i = 0; i < shown; ++i) {
    table += HolderLine(held.holdings[i], explanation.holder_lines[i], explanation, unit);
  }
  const std::string rest = RestLine(held.holdings, shown);
  return table + (rest.empty() ? "" : "  " + rest) + Wrapped("  (" + KnownText(held) + ")", 3);
}

std::string ShareTables(const Breakdown& breakdown) {
  const TableUnit unit = UnitFor(breakdown.bytes);
  std::string tables = ShareTable("by role", breakdown.by_role, unit);
  const bool owned = breakdown.by_owner.size() > 1 || breakdown.by_owner.front().name != "(none)";
  if (owned) tables += ShareTable("by owner", breakdown.by_owner, unit);
  return tables + ShareTable("by site", breakdown.by_site, unit);
}

}  // namespace memtrace::report
