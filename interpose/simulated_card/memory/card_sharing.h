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

// One card's entry in the ledger of the processes that share it. Without a ledger no other process
// of ours has the card: none holds memory of it, and only contents are shared. Safe from any
// thread.
class CardSharing {
 public:
  // `shared` must outlive this; null: there is no ledger. `index` is the card's index in it.
  explicit CardSharing(SharedLedger* shared = nullptr, std::size_t index = 0)
      : shared_(shared), index_(index) {}

  // Returns the card's number, as the ledger of all processes counts cards.
  std::uint32_t LedgerIndex() const { return static_cast<std::uint32_t>(index_); }

  // These are SharedLedger's functions; without a ledger they return 0 and no processes.
  std::optional<std::uint64_t> Hold(std::uint64_t bytes, std::uint64_t room) const;
  std::uint64_t HeldByOthers() const;
  std::vector<ProcessMemory> OtherProcesses() const;

  // The same as in SharedLedger; without a ledger, returns a descriptor that shares only contents.
  int Lend(const SharedMemoryRecord& record) const;
  // Ends the descriptor.
  bool Reclaim(const SharedMemoryRecord& record, int descriptor) const;

 private:
  SharedLedger* shared_;  // may be null
  std::size_t index_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_CARD_SHARING_H_
