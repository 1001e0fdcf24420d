// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/ledger_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "messages/message.h"
#include "tools/report/verdict/others_text.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::Ledger;
using analysis::LedgerPart;

struct Entry {
  std::string name;
  int64_t bytes = 0;
  std::string remark;
  std::optional<LedgerPart> part = std::nullopt;  // nothing for a part of a part
};

TableRow RowOf(const Entry& entry, size_t depth, int64_t hundredths, const Ledger& ledger) {
  TableRow row{.cells = {entry.name, FormatHundredths(hundredths)}, .depth = depth};
  // If a ledger does not add up (`unexplained` below 0), an entry may exceed the card.
  row.share =
      ledger.total == 0 ? 0 : static_cast<double>(entry.bytes) / static_cast<double>(ledger.total);
  if (hundredths == 0 && entry.bytes > 0)
    row.remarks.push_back(FormatBytes(static_cast<uint64_t>(entry.bytes)));
  if (!entry.remark.empty()) row.remarks.push_back(entry.remark);
  return row;
}

// Returns figures in hundredths of a unit that sum to `total`.
std::vector<int64_t> FiguresOf(const std::vector<Entry>& entries, int64_t total, TableUnit unit) {
  std::vector<int64_t> bytes;
  bytes.reserve(entries.size());
  for (const Entry& entry : entries) bytes.push_back(entry.bytes);
  return AdditiveHundredths(bytes, total, unit);
}

// Says how certain the role is; "" if hooks stated it for all bytes, or if the role is unknown.
std::string EvidenceText(const analysis::Share& share) {
  const analysis::KnownBytes& known = share.known;
  if (known.inferred + known.guessed == 0) return "";
  if (known.guessed > 0) return known.stated > 0 ? Message("partly guessed") : Message("guessed");
  return known.stated > 0 ? Message("partly inferred") : Message("inferred");
}

std::vector<Entry> RolesOf(const analysis::Breakdown& held, int64_t live) {
  std::vector<Entry> entries;
  int64_t seen = 0;
  for (const analysis::Share& share : held.by_role) {
    const auto bytes = static_cast<int64_t>(share.bytes);
    seen = SumOfBytes(seen, bytes);
    entries.push_back({RoleWords(share.name), bytes, EvidenceText(share)});
  }
  // The allocator's own sum differs from the replay only if events were lost.
  if (seen != live)
    entries.push_back({Message("(not in the trace)"), DifferenceOfBytes(live, seen), ""});
  return entries;
}

// Lists the other processes; empty if they are not known.
std::vector<Entry> OthersOf(const analysis::CardExplanation& card) {
  std::vector<Entry> entries;
  for (const OtherRow& row : OtherRows(card))
    entries.push_back({row.name, static_cast<int64_t>(row.bytes), row.remark});
  return entries;
}

// Says what NCCL pins of the host; "" for other libraries.
std::string HostText(const std::string& library, uint64_t nccl_host) {
  if (library != "NCCL" || nccl_host == 0) return "";
  return Message("also pins up to $0 of the host", FormatBytes(nccl_host));
}

// Lists the libraries that took memory outside the allocator; empty if none did. Small allocations
// share granules, which belong to no library. `nccl_host` is what NCCL pins of the host.
std::vector<Entry> LibraryEntries(const std::vector<analysis::OutsideHolding>& holdings,
                                  int64_t outside, uint64_t nccl_host) {
  std::vector<Entry> entries;
  int64_t named = 0;
  for (const analysis::LibraryBytes& library : analysis::LibrariesOf(holdings)) {
    const auto bytes = static_cast<int64_t>(library.bytes);
    if (library.library.empty() || SumOfBytes(named, bytes) > outside) continue;
    named = SumOfBytes(named, bytes);
    entries.push_back({library.library, bytes, HostText(library.library, nccl_host)});
  }
  if (!entries.empty() && named != outside)
    entries.push_back({Message("others and rounding"), DifferenceOfBytes(outside, named), ""});
  return entries;
}

std::vector<Entry> EntriesOf(const Ledger& ledger) {
  std::vector<Entry> entries;
  for (const analysis::LedgerEntry& entry : ledger.entries) {
    if (entry.part == LedgerPart::kPrivatePools && entry.bytes == 0)
      continue;  // few programs have any
    std::string remark;
    if (entry.part == LedgerPart::kHoles && ledger.largest_hole > 0 && entry.bytes > 0) {
      remark = Message("largest $0", FormatBytes(ledger.largest_hole));
    }
    entries.push_back({EntryLabel(ledger, entry), entry.bytes, remark, entry.part});
  }
  return entries;
}

// Lists what takes nothing of the card, and so is in no sum.
Table OffCardTable(const Ledger& ledger) {
  const TableUnit unit = UnitFor(ledger.total);
  Table table;
  table.title = Message("BESIDE THE CARD");
  table.columns = {{"", 30}, {std::string(unit.name), 9, TableColumn::Kind::kFigure}};
  for (const analysis::OffCardEntry& entry : ledger.off_card) {
    TableRow row{.cells = {OffCardWords(entry.part), FormatFigure(entry.bytes, unit)}};
    if (entry.part == analysis::OffCardPart::kAsleep)
      row.remarks.push_back(Message("a wake needs as much of the card"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string Title(const Explanation& explanation) {
  const analysis::CardExplanation& card = explanation.card_of_verdict();
  if (explanation.asked)
    return Message("CARD $0 at $1", card.index, MomentText(*explanation.asked));
  return explanation.failure.request ? Message("CARD $0", card.index)
                                     : Message("CARD $0 at its peak", card.index);
}

class LedgerTable {
 public:
  LedgerTable(const analysis::CardExplanation& card, const analysis::ExplainedHolders& holders,
              uint64_t nccl_host)
      : card_(card), holders_(holders), nccl_host_(nccl_host), unit_(UnitFor(card.ledger.total)) {}

  Table Run() {
    const Ledger& ledger = card_.ledger;
    const int64_t total = Hundredths(static_cast<int64_t>(ledger.total), unit_);
    table_.columns = {{"", 30}, {std::string(unit_.name), 9, TableColumn::Kind::kFigure}};
    const std::vector<Entry> entries = EntriesOf(ledger);
    const std::vector<int64_t> figures = FiguresOf(entries, total, unit_);
    for (size_t i = 0; i < entries.size(); ++i) {
      table_.rows.push_back(RowOf(entries[i], 0, figures[i], ledger));
      if (entries[i].part == LedgerPart::kLive)
        AddParts(RolesOf(holders_.held, entries[i].bytes), figures[i]);
      if (entries[i].part == LedgerPart::kOutsideAllocator)
        AddParts(LibraryEntries(holders_.outside, entries[i].bytes, nccl_host_), figures[i]);
      if (entries[i].part == LedgerPart::kOtherProcesses) AddParts(OthersOf(card_), figures[i]);
    }
    table_.total = {"", FormatHundredths(total)};
    return std::move(table_);
  }

 private:
  void AddParts(const std::vector<Entry>& parts, int64_t hundredths) {
    const std::vector<int64_t> figures = FiguresOf(parts, hundredths, unit_);
    for (size_t i = 0; i < parts.size(); ++i)
      table_.rows.push_back(RowOf(parts[i], 1, figures[i], card_.ledger));
  }

  const analysis::CardExplanation& card_;
  const analysis::ExplainedHolders& holders_;
  const uint64_t nccl_host_;
  const TableUnit unit_;
  Table table_;
};

}  // namespace

std::string EntryLabel(const Ledger& ledger, const analysis::LedgerEntry& entry) {
  const bool is_sum = entry.part == LedgerPart::kCached && !ledger.pieces_known;
  return is_sum ? Message("cached and holes") : LedgerWords(entry.part);
}

Section LedgerSection(const Explanation& explanation, const analysis::SimulationFacts& simulation) {
  const Ledger& ledger = explanation.card_of_verdict().ledger;
  Section section{.id = "card", .title = Title(explanation)};
  if (ledger.total == 0) return section;
  const auto nccl = simulation.nccl.find(explanation.card_of_verdict().index);
  const uint64_t host = nccl == simulation.nccl.end() ? 0 : nccl->second.host;
  section.parts.emplace_back(
      LedgerTable(explanation.card_of_verdict(), explanation.holders, host).Run());
  if (!ledger.off_card.empty()) section.parts.emplace_back(OffCardTable(ledger));
  if (!ledger.total_known)
    section.parts.emplace_back(
        Paragraph{Message("The card's size is not in the trace. The sum is what memtrace saw.")});
  return section;
}

}  // namespace memtrace::report
