// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/ledger_table.h"

#include <algorithm>

#include "tools/report/printable.h"
#include "tools/report/quantity.h"
#include "tools/report/verdict_text.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::Ledger;

constexpr size_t kNameColumns = 32;
constexpr size_t kFigureColumns = 9;
// Columns of a bar that is the whole card; fewer leave room for a remark on a narrow terminal.
double BarColumns() { return Columns() < kColumns ? 18 : 32; }

struct Row {
  std::string name;
  int64_t bytes = 0;
  std::string remark;
};

std::string Line(const Row& row, int64_t hundredths, const Ledger& ledger) {
  const double share =
      ledger.total == 0 ? 0 : static_cast<double>(row.bytes) / static_cast<double>(ledger.total);
  std::string line = LeftAligned(row.name, kNameColumns) +
                     RightAligned(FormatHundredths(hundredths), kFigureColumns);
  // An entry of a ledger that does not add up (`unexplained` below 0) may exceed the card.
  const std::string bar = Bar(std::clamp(share, 0.0, 1.0) * BarColumns());
  if (!bar.empty()) line += "  " + bar;
  if (hundredths == 0 && row.bytes > 0)
    line += "  " + FormatBytes(static_cast<uint64_t>(row.bytes));
  if (!row.remark.empty()) line += "  " + row.remark;
  return line + "\n";
}

// Rows whose printed figures sum to `total` hundredths.
std::string Lines(const std::vector<Row>& rows, int64_t total, TableUnit unit, const Ledger& ledger,
                  size_t after, const std::string& inserted) {
  std::vector<int64_t> bytes;
  bytes.reserve(rows.size());
  for (const Row& row : rows) bytes.push_back(row.bytes);
  const std::vector<int64_t> figures = AdditiveHundredths(bytes, total, unit);
  std::string lines;
  for (size_t i = 0; i < rows.size(); ++i) {
    lines += Line(rows[i], figures[i], ledger);
    if (i == after) lines += inserted;
  }
  return lines;
}

// How surely the bytes have the role; nothing if hooks stated it of all, or if it is unknown.
std::string EvidenceText(const analysis::Share& share) {
  const analysis::KnownBytes& known = share.known;
  if (known.inferred + known.guessed == 0) return "";
  const std::string part = known.stated > 0 ? "part " : "";
  return " (" + part + (known.guessed > 0 ? "guessed)" : "inferred)");
}

std::vector<Row> RoleRows(const analysis::Breakdown& held, int64_t live) {
  std::vector<Row> rows;
  int64_t seen = 0;
  for (const analysis::Share& share : held.by_role) {
    const auto bytes = static_cast<int64_t>(share.bytes);
    seen += bytes;
    std::string name = "    " + share.name;
    name += EvidenceText(share);
    rows.push_back({name, bytes, ""});
  }
  // The allocator's own sum and the replay differ only if events were lost.
  if (seen != live) rows.push_back({"    (not in the trace)", live - seen, ""});
  return rows;
}

std::vector<Row> LedgerRows(const Ledger& ledger) {
  std::vector<Row> rows;
  for (const analysis::LedgerEntry& entry : ledger.entries) {
    if (entry.name == "private_pools" && entry.bytes == 0) continue;  // few programs have any
    std::string remark;
    if (entry.name == "holes" && ledger.largest_hole > 0 && entry.bytes > 0) {
      remark = "largest " + FormatBytes(ledger.largest_hole);
    }
    rows.push_back({"  " + std::string(entry.name), entry.bytes, remark});
  }
  return rows;
}

std::string Title(const Explanation& explanation, TableUnit unit) {
  const analysis::CardExplanation& card = explanation.cards[explanation.card];
  std::string title = "CARD " + std::to_string(card.index);
  if (explanation.asked) {
    title += " at " + MomentText(*explanation.asked);
  } else if (!explanation.request) {
    title += " at its peak";
  }
  return LeftAligned(title, kNameColumns) + RightAligned(unit.name, kFigureColumns) + "\n";
}

}  // namespace

std::string LedgerTable(const Explanation& explanation) {
  const Ledger& ledger = explanation.cards[explanation.card].ledger;
  if (ledger.total == 0) return "";
  const TableUnit unit = UnitFor(ledger.total);
  const std::vector<Row> rows = LedgerRows(ledger);
  const int64_t total = Hundredths(static_cast<int64_t>(ledger.total), unit);
  std::vector<int64_t> bytes;
  bytes.reserve(rows.size());
  for (const Row& row : rows) bytes.push_back(row.bytes);
  const size_t live = 1;  // in kLedgerNames
  const std::string roles =
      Lines(RoleRows(explanation.held, rows[live].bytes),
            AdditiveHundredths(bytes, total, unit)[live], unit, ledger, rows.size(), "");
  std::string table =
      "\n" + Title(explanation, unit) + Lines(rows, total, unit, ledger, live, roles) +
      std::string(kNameColumns + kFigureColumns - 6, ' ') + "──────\n" +
      std::string(kNameColumns, ' ') + RightAligned(FormatHundredths(total), kFigureColumns) + "\n";
  if (!ledger.total_known)
    table += "  the card's size is not in the trace: this is what memtrace saw\n";
  return table;
}

}  // namespace memtrace::report
