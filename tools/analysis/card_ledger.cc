// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/card_ledger.h"

#include <algorithm>

#include "tools/analysis/address_range.h"

namespace memtrace::analysis {
namespace {

int64_t Signed(uint64_t bytes) { return static_cast<int64_t>(bytes); }

void AddFree(trace::CardLedger& account, uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  const uint64_t first = EndOf(begin, kGranule - 1) / kGranule * kGranule;
  const uint64_t last = end / kGranule * kGranule;
  const uint64_t whole = last > first ? last - first : 0;
  account.cached += whole;
  account.holes += end - begin - whole;
  // A hole is what lies beside whole granules: these are cached.
  const uint64_t largest = whole == 0 ? end - begin : std::max(first - begin, end - last);
  account.largest_hole = std::max(account.largest_hole, largest);
}

// Walks blocks and mapped ranges together, both in order of address.
void AddFreeRanges(trace::CardLedger& account, const std::vector<CapturedBlock>& captured,
                   const LiveSet& live, const MappedRanges& mapped) {
  auto next = captured.begin();
  mapped.ForEach([&](uint64_t begin, uint64_t end) {
    uint64_t at = begin;
    for (; next != captured.end(); ++next) {
      const trace::Allocate& block = live.block(next->id).allocation;
      if (block.address >= end) break;
      AddFree(account, at, std::max(at, block.address));
      at = std::max(at, EndOf(block.address, block.allocated));
    }
    AddFree(account, at, end);
  });
}

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

}  // namespace

int64_t Ledger::bytes(std::string_view name) const {
  for (const LedgerEntry& entry : entries) {
    if (entry.name == name) return entry.bytes;
  }
  return 0;
}

uint64_t Ledger::positive(std::string_view name) const {
  return static_cast<uint64_t>(std::max<int64_t>(bytes(name), 0));
}

Ledger LedgerFromAccount(const trace::CardLedger& account) {
  Ledger ledger;
  ledger.total = account.total;
  // The process means the largest free range, which may hold cached granules, too.
  ledger.largest_hole = std::min(account.largest_hole, account.holes);
  const std::array<int64_t, kLedgerNames.size() - 1> known = {
      Signed(account.context),
      Signed(account.live_requested),
      Signed(account.live_allocated) - Signed(account.live_requested),
      Signed(account.stream_wait),
      Signed(account.cached),
      Signed(account.holes),
      Signed(account.private_pools),
      Signed(account.outside_allocator),
      Signed(account.other_processes),
      Signed(account.free)};
  int64_t unexplained = Signed(account.total);
  for (size_t i = 0; i < known.size(); ++i) {
    ledger.entries.push_back({kLedgerNames[i], known[i]});
    unexplained -= known[i];
  }
  ledger.entries.push_back({kLedgerNames.back(), unexplained});
  return ledger;
}

Ledger LedgerFromReplay(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                        const MappedRanges& mapped,
                        const std::optional<trace::CardLedger>& sample) {
  trace::CardLedger account = sample.value_or(trace::CardLedger());
  const uint64_t sampled_reserved = account.reserved;
  account.live_requested = account.live_allocated = account.stream_wait = 0;
  account.cached = account.holes = account.largest_hole = account.private_pools = 0;
  AddBlocks(account, captured, live);
  if (mapped.bytes() > 0) {
    AddFreeRanges(account, captured, live, mapped);
  } else if (const uint64_t used = account.live_allocated + account.stream_wait;
             sampled_reserved > used) {
    // No segment was seen: what they hold beyond the blocks is not told apart.
    account.cached = sampled_reserved - used;
  }
  account.reserved = account.live_allocated + account.stream_wait + account.cached + account.holes;
  if (sample) {
    // What was mapped since the sample came out of what was free then.
    const int64_t free = Signed(account.free) + Signed(sampled_reserved) - Signed(account.reserved);
    account.free = static_cast<uint64_t>(std::max<int64_t>(free, 0));
  }
  const bool total_known = account.total != 0;
  if (!total_known) account.total = account.reserved + account.private_pools + account.free;
  Ledger ledger = LedgerFromAccount(account);
  ledger.total_known = total_known;
  return ledger;
}

}  // namespace memtrace::analysis
