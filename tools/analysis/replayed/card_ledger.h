// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_CARD_LEDGER_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_CARD_LEDGER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/segment_map.h"

namespace memtrace::analysis {

// The parts are in the order of ledger.def.
enum class LedgerPart : uint8_t {
#define MEMTRACE_LEDGER_ENTRY(name, text, meaning) k##name,
#include "profiler/trace/vocabulary/ledger.def"
#undef MEMTRACE_LEDGER_ENTRY
};
std::string_view LedgerPartName(LedgerPart part);  // "stream_wait"

struct LedgerEntry {
  LedgerPart part = LedgerPart::kUnexplained;
  int64_t bytes = 0;

  std::string_view name() const { return LedgerPartName(part); }
};

// Memory of the process beside the ledger of a card, in the order of off_card.def.
enum class OffCardPart : uint8_t {
#define MEMTRACE_OFF_CARD_ENTRY(name, text, meaning) k##name,
#include "profiler/trace/vocabulary/off_card.def"
#undef MEMTRACE_OFF_CARD_ENTRY
};
inline constexpr size_t kOffCardParts = static_cast<size_t>(OffCardPart::kHostPooled) + 1;

struct OffCardEntry {
  OffCardPart part = OffCardPart::kAsleep;
  uint64_t bytes = 0;

  std::string_view name() const;  // "on_host"
};

// The place of every byte of one card: each part, in order, summing to `total`. `unexplained`, the
// last, is what the others leave over; it may be negative.
struct Ledger {
  uint64_t total = 0;
  bool total_known = true;  // else `total` is only the sum of what the trace shows
  // False if only the sum of cached memory and holes is known; then all of it is `cached`.
  bool pieces_known = true;
  uint64_t largest_hole = 0;
  // Bytes of whole granules of 2 MiB in cached memory and holes, which a program that needs less
  // would not need. `cached` if pieces are not known.
  uint64_t granules = 0;
  // The parts of private pools, in no order; empty if they are not known.
  std::vector<FreeOfPool> pools;
  std::vector<LedgerEntry> entries;
  std::vector<OffCardEntry> off_card;  // that are not empty; they take nothing of the card

  int64_t bytes(LedgerPart part) const;
  uint64_t positive(LedgerPart part) const;  // bytes(), 0 where that is negative
};

inline constexpr size_t kLedgerParts = static_cast<size_t>(LedgerPart::kUnexplained) + 1;

// Returns the ledger of the process's own account of the card at one moment. The total of an
// account without a size (total 0) is the sum of its entries.
Ledger LedgerFromAccount(const trace::CardLedger& account);
// Does the same for a process that does not know in what pieces its free memory lies (it observes
// another allocator): they are those of the replay, if that misses nothing.
Ledger LedgerFromAccount(trace::CardLedger account, const FreeMemory& replayed);

// Returns the allocator's part as replayed up to now, and the rest, with what is off the card, as
// in the nearest sample of the card. `free`: nothing if no segment was seen.
Ledger LedgerFromReplay(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                        const std::optional<FreeMemory>& free,
                        const std::optional<trace::CardLedger>& sample);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_CARD_LEDGER_H_
