// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_CARD_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_CARD_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/card_sharing.h"
#include "interpose/simulated_card/spec/card_spec.h"

namespace memtrace::card {

// Who a charge belongs to: the runtime's heap (cudaMalloc and kin), the caller's own physical
// memory (cuMemCreate), or the context, whose charge is a fixed sum that this is part of.
enum class ChargeKind { kRuntime, kVmm, kContext };

// Where every byte of one card is. total == context + other + runtime + vmm + free, always.
struct Ledger {
  std::uint64_t total = 0;
  std::uint64_t context = 0;  // 0 until the process creates its context
  std::uint64_t other = 0;    // the card's setting, and what processes of the same launch hold
  std::uint64_t runtime = 0;
  std::uint64_t vmm = 0;
  std::uint64_t free = 0;
  std::uint64_t peak = 0;  // highest total - free at any charge so far

  bool operator==(const Ledger&) const = default;
};

// The memory of one card as a sum. A GPU pages its memory, so a charge succeeds exactly when that
// many bytes are free anywhere: there is no fragmentation at this level. A refused charge changes
// nothing. Safe from any thread.
class Card {
 public:
  explicit Card(const CardSpec& spec, const CardSharing& sharing = CardSharing());
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  // As it was asked for; the size and what others hold may have changed since.
  const CardSpec& Spec() const { return spec_; }

  // Charges the context, once; false if it does not fit. REQUIRES: nothing.
  bool ActivateContext();
  // REQUIRES: it is active.
  void DeactivateContext();
  bool HasContext() const;
  // A further context, as large; false if it does not fit.
  bool AddContext();
  // REQUIRES: there is one.
  void RemoveContext();

  // A stream was made, or one ended. On a Hopper card it takes memory, which counts as the
  // context's; that of ended ones stays until it is needed for something else. False if it does not
  // fit.
  bool AddStream();
  void RemoveStream();

  bool Charge(ChargeKind kind, std::uint64_t bytes);
  // REQUIRES: that many bytes are charged to kind.
  void Discharge(ChargeKind kind, std::uint64_t bytes);

  // What the card's other processes hold of it.
  const CardSharing& sharing() const { return sharing_; }

  // The card shrinks or grows, or other processes take or give back; false if what is charged no
  // longer fits.
  bool Resize(std::uint64_t total);
  bool SetOther(std::uint64_t bytes);
  // Other processes take so much, or all that is free.
  void TakeOther(std::uint64_t bytes);

  Ledger CurrentLedger() const;

 private:
  std::uint64_t ContextBytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::uint64_t Own() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::uint64_t HeldByOthers() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Occupy(std::uint64_t own) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::uint64_t StreamBytes(std::uint64_t streams) const;
  bool OccupyOrReclaim(std::uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const CardSpec spec_;
  const CardSharing sharing_;
  mutable Mutex mutex_;
  std::uint64_t total_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t other_ ABSL_GUARDED_BY(mutex_);
  bool context_active_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t further_contexts_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t streams_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t stream_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t runtime_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t vmm_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t peak_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_CARD_H_
