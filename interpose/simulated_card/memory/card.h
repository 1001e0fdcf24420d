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

// The owner of a charge: the runtime's heap (cudaMalloc and kin), the caller's own physical memory
// (cuMemCreate), the context, whose fixed charge includes this memory, or the host, whose memory
// (cuMemCreate with a host location) is charged to no card.
enum class ChargeKind { kRuntime, kVmm, kContext, kHost };

// The place of every byte of one card. total == context + other + runtime + vmm + free, always.
struct Ledger {
  std::uint64_t total = 0;
  std::uint64_t context = 0;  // 0 until the process creates its context
  std::uint64_t other = 0;    // the card's setting, and bytes of the launch's other processes
  std::uint64_t runtime = 0;
  std::uint64_t vmm = 0;
  std::uint64_t free = 0;
  std::uint64_t peak = 0;  // highest total - free at any charge so far

  bool operator==(const Ledger&) const = default;
};

// The memory of one card as a sum. A GPU pages its memory, so a charge succeeds if and only if that
// many bytes are free anywhere: there is no fragmentation at this level. A refused charge changes
// nothing. Safe from any thread.
class Card {
 public:
  explicit Card(const CardSpec& spec, const CardSharing& sharing = CardSharing());
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  // The original specification; the size and other processes' bytes may have changed since.
  const CardSpec& Spec() const { return spec_; }

  // Charges the context, once; false if it does not fit.
  bool ActivateContext();
  // REQUIRES: the context is active.
  void DeactivateContext();
  bool HasContext() const;
  // Charges a further context of the same size; false if it does not fit.
  bool AddContext();
  // REQUIRES: there is a further context.
  void RemoveContext();

  // Tell that a stream was made, or that one ended. On a Hopper card a stream takes memory, which
  // counts as the context's; that of ended streams stays until it is needed for something else.
  // False if it does not fit.
  bool AddStream();
  void RemoveStream();

  bool Charge(ChargeKind kind, std::uint64_t bytes);
  // REQUIRES: that many bytes are charged to kind.
  void Discharge(ChargeKind kind, std::uint64_t bytes);

  // The part of the card that other processes hold.
  const CardSharing& sharing() const { return sharing_; }

  // Shrink or grow the card, or the bytes of other processes; false if the charged bytes no longer
  // fit.
  bool Resize(std::uint64_t total);
  bool SetOther(std::uint64_t bytes);
  // Lets other processes take that many bytes, or all free ones.
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
