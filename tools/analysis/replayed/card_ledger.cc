// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/card_ledger.h"

#include <algorithm>

#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

int64_t Signed(uint64_t bytes) { return static_cast<int64_t>(bytes); }

void AddBlocks(trace::CardLedger& account, const std::vector<CapturedBlock>& captured,
               const LiveSet& live) {
  for (const CapturedBlock& block : captured) {
    const trace::Allocate& allocation = live.block(block.id).allocation;
    if (block.waiting) {
      account.stream_wait += allocation.allocated;
    } else {
      account.live_requested += allocation.requested;
      account.live_allocated += allocation.allocated;
    }
  }
}

void SetFree(trace::CardLedger& account, const FreeMemory& free) {
  account.cached = free.cached;
  account.holes = free.holes;
  account.largest_hole = free.largest_hole;
  account.private_pools = free.private_pools;
}

std::vector<OffCardEntry> OffCardOf(const trace::CardLedger& account) {
  const std::array<uint64_t, kOffCardParts> bytes = {account.asleep, account.on_host,
                                                     account.host_copies, account.host_pooled};
  std::vector<OffCardEntry> entries;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] > 0) entries.push_back({static_cast<OffCardPart>(i), bytes[i]});
  return entries;
}

}  // namespace

std::string_view OffCardEntry::name() const {
  static constexpr std::array<std::string_view, kOffCardParts> kNames = {
#define MEMTRACE_OFF_CARD_ENTRY(name, text, meaning) text,
#include "profiler/trace/vocabulary/off_card.def"
#undef MEMTRACE_OFF_CARD_ENTRY
  };
  return kNames[static_cast<size_t>(part)];
}

std::string_view LedgerPartName(LedgerPart part) {
  static constexpr std::array<std::string_view, kLedgerParts> kNames = {
#define MEMTRACE_LEDGER_ENTRY(name, text, meaning) text,
#include "profiler/trace/vocabulary/ledger.def"
#undef MEMTRACE_LEDGER_ENTRY
  };
  return kNames[static_cast<size_t>(part)];
}

int64_t Ledger::bytes(LedgerPart part) const {
  for (const LedgerEntry& entry : entries)
    if (entry.part == part) return entry.bytes;
  return 0;
}

uint64_t Ledger::positive(LedgerPart part) const {
  return static_cast<uint64_t>(std::max<int64_t>(bytes(part), 0));
}

Ledger LedgerFromAccount(const trace::CardLedger& account) {
  Ledger ledger;
  // The process states the largest free range, which may also hold cached granules.
  ledger.largest_hole = std::min(account.largest_hole, account.holes);
  ledger.granules = account.cached;
  const std::array<int64_t, kLedgerParts - 1> known = {
      Signed(account.context),
      Signed(account.live_requested),
      Signed(account.live_allocated - account.live_requested),  // a file may claim less: it wraps
      Signed(account.stream_wait),
      Signed(account.cached),
      Signed(account.holes),
      Signed(account.private_pools),
      Signed(account.outside_allocator),
      Signed(account.other_processes),
      Signed(account.free)};
  uint64_t sum = 0;  // a file may claim any numbers: it wraps
  for (size_t i = 0; i < known.size(); ++i) {
    ledger.entries.push_back({static_cast<LedgerPart>(i), known[i]});
    sum += static_cast<uint64_t>(known[i]);
  }
  ledger.total_known = account.total != 0;
  ledger.total = ledger.total_known ? account.total : sum;
  ledger.entries.push_back({LedgerPart::kUnexplained, Signed(ledger.total - sum)});
  ledger.off_card = OffCardOf(account);
  return ledger;
}

Ledger LedgerFromAccount(trace::CardLedger account, const FreeMemory& replayed) {
  const bool is_told = account.largest_hole != 0 || account.private_pools != 0;
  const bool is_whole = replayed.bytes() == account.cached + account.holes;
  if (!is_told && is_whole) SetFree(account, replayed);
  Ledger ledger = LedgerFromAccount(account);
  ledger.pools = replayed.pools;
  // The process's largest free range may hold granules that can be given back.
  if (is_told && account.holes == replayed.holes) ledger.largest_hole = replayed.largest_hole;
  if (!is_told && is_whole) ledger.granules = replayed.granules;
  return ledger;
}

Ledger LedgerFromReplay(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                        const std::optional<FreeMemory>& free,
                        const std::optional<trace::CardLedger>& sample) {
  trace::CardLedger account = sample.value_or(trace::CardLedger());
  const uint64_t sampled_reserved = account.reserved;
  account.live_requested = account.live_allocated = account.stream_wait = 0;
  AddBlocks(account, captured, live);
  const uint64_t used = account.live_allocated + account.stream_wait;
  SetFree(account, free.value_or(FreeMemory{.cached = Less(sampled_reserved, used)}));
  account.reserved = used + account.cached + account.holes + account.private_pools;
  if (sample) {
    // Memory mapped after the sample was taken from what the sample reported as free.
    const uint64_t then = account.free + sampled_reserved;
    const bool is_forged = then < account.free;  // the sum is beyond the type
    account.free = is_forged ? 0 : Less(then, account.reserved);
  }
  Ledger ledger = LedgerFromAccount(account);
  if (free) {
    ledger.granules = free->granules;
    ledger.pools = free->pools;
  }
  ledger.pieces_known = free.has_value() || account.cached == 0;
  return ledger;
}

}  // namespace memtrace::analysis
