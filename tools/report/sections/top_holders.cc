// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/top_holders.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "messages/message.h"
#include "tools/report/sections/holder_groups.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::CardExplanation;
using analysis::ExplainedHolders;
using analysis::Ledger;
using analysis::LedgerPart;

// Leaves room for the bars.
size_t PlaceWidth() { return Columns() < kColumns ? 14 : 24; }

int64_t Signed(uint64_t bytes) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(bytes, kMost));
}

struct Holder {
  std::string name;
  int64_t bytes = 0;
  std::string line = {};  // that made the largest part of it
};

std::string LargestLibrary(const std::vector<analysis::OutsideHolding>& holdings) {
  const std::vector<analysis::LibraryBytes> libraries = analysis::LibrariesOf(holdings);
  return libraries.empty() ? "" : libraries.front().library;
}

// Returns all holders, the largest first. Without those whose bytes are negative (`unexplained` of
// a ledger that does not add up).
std::vector<Holder> HoldersOf(const CardExplanation& card, const ExplainedHolders& holders) {
  std::vector<Holder> listed;
  for (HolderGroup& group : HolderGroups(holders)) {
    listed.push_back({.name = std::move(group.name),
                      .bytes = Signed(group.bytes),
                      .line = std::move(group.line)});
  }
  // The allocator's own sum differs from that of the blocks only if events were lost.
  const Ledger& ledger = card.ledger;
  const uint64_t in_use = ledger.positive(LedgerPart::kLive);
  if (const uint64_t seen = holders.held.bytes; seen < in_use)
    listed.push_back({.name = Message("(not in the trace)"), .bytes = Signed(in_use - seen)});
  for (const analysis::LedgerEntry& entry : ledger.entries) {
    if (entry.part == LedgerPart::kLive || entry.part == LedgerPart::kFree || entry.bytes <= 0)
      continue;
    Holder holder{.name = LedgerWords(entry.part), .bytes = entry.bytes};
    if (entry.part == LedgerPart::kOutsideAllocator) holder.line = LargestLibrary(holders.outside);
    listed.push_back(std::move(holder));
  }
  std::stable_sort(listed.begin(), listed.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  return listed;
}

std::string TitleOf(const CardExplanation& card) {
  return Message("WHO HOLDS CARD $0", std::to_string(card.index));
}

// Keeps the largest and adds up the others in one row.
void KeepLargest(size_t rows, std::vector<Holder>& holders) {
  if (holders.size() <= rows) return;
  const size_t others = holders.size() - rows;
  Holder rest{.name = CountedMessage(others, "1 other", "$0 others", FormatCount(others))};
  for (size_t i = rows; i < holders.size(); ++i)
    rest.bytes = SumOfBytes(rest.bytes, holders[i].bytes);
  holders.resize(rows);
  holders.push_back(std::move(rest));
}

}  // namespace

Section TopHolderSection(const CardExplanation& card, const ExplainedHolders& holders,
                         size_t rows) {
  const Ledger& ledger = card.ledger;
  std::vector<Holder> listed = HoldersOf(card, holders);
  Section section{.id = "top", .title = TitleOf(card)};
  if (listed.empty()) return section;
  KeepLargest(rows, listed);
  if (ledger.total > 0) {
    listed.push_back(
        {.name = LedgerWords(LedgerPart::kFree), .bytes = ledger.bytes(LedgerPart::kFree)});
  }
  int64_t total = 0;
  std::vector<int64_t> bytes;
  bytes.reserve(listed.size());
  for (const Holder& holder : listed) {
    bytes.push_back(holder.bytes);
    total = SumOfBytes(total, holder.bytes);
  }

  const TableUnit unit = UnitFor(static_cast<uint64_t>(total));
  const std::vector<int64_t> figures = AdditiveHundredths(bytes, Hundredths(total, unit), unit);
  Table table;
  table.columns = {{"", 30},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {Message("mostly from"), PlaceWidth(), TableColumn::Kind::kPath}};
  for (size_t i = 0; i < listed.size(); ++i) {
    TableRow row{
        .cells = {listed[i].name, FormatHundredths(figures[i]), SiteWords(listed[i].line)}};
    row.share = total == 0 ? 0 : static_cast<double>(bytes[i]) / static_cast<double>(total);
    table.rows.push_back(std::move(row));
  }
  section.parts.emplace_back(std::move(table));
  return section;
}

}  // namespace memtrace::report
