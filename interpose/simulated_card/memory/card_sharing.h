// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_CARD_SHARING_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_CARD_SHARING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "interpose/simulated_card/memory/shared_ledger.h"

namespace memtrace::card {

// One card's place in the ledger of the processes that share it. Without a ledger no other process
// of ours has the card: nobody else holds anything of it, and only contents are shared. Safe from
// any thread.
class CardSharing {
 public:
  // `shared` must outlive this; null: there is no ledger. `index`: of the card in it.
  explicit CardSharing(SharedLedger* shared = nullptr, std::size_t index = 0)
      : shared_(shared), index_(index) {}

  // Returns the card's number, as the ledger of all processes counts cards.
  std::uint32_t LedgerIndex() const { return static_cast<std::uint32_t>(index_); }

  // As SharedLedger has them; 0 and none without one.
  std::optional<std::uint64_t> Hold(std::uint64_t bytes, std::uint64_t room) const;
  std::uint64_t HeldByOthers() const;
  std::vector<ProcessMemory> OtherProcesses() const;

  // As SharedLedger has them; without one a descriptor for contents alone.
  int Lend(const SharedMemoryRecord& record) const;
  // Ends the descriptor.
  bool Reclaim(const SharedMemoryRecord& record, int descriptor) const;

 private:
  SharedLedger* shared_;  // may be null
  std::size_t index_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_CARD_SHARING_H_
