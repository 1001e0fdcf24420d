// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/card.h"

#include <algorithm>

namespace memtrace::card {

Card::Card(const CardSpec& spec) : spec_(spec), peak_(spec.other_bytes) {}

std::uint64_t Card::UsedLocked() const {
  return spec_.other_bytes + (context_active_ ? spec_.context_bytes : 0) + runtime_ + vmm_;
}

// Subtracts rather than adds: bytes may be near the end of its type.
bool Card::FitsLocked(std::uint64_t bytes) const { return bytes <= spec_.bytes - UsedLocked(); }

bool Card::ActivateContext() {
  const std::lock_guard lock(mutex_);
  if (context_active_) return true;
  if (!FitsLocked(spec_.context_bytes)) return false;
  context_active_ = true;
  peak_ = std::max(peak_, UsedLocked());
  return true;
}

bool Card::HasContext() const {
  const std::lock_guard lock(mutex_);
  return context_active_;
}

bool Card::Charge(ChargeKind kind, std::uint64_t bytes) {
  if (kind == ChargeKind::kContext) return true;
  const std::lock_guard lock(mutex_);
  if (!FitsLocked(bytes)) return false;
  (kind == ChargeKind::kRuntime ? runtime_ : vmm_) += bytes;
  peak_ = std::max(peak_, UsedLocked());
  return true;
}

void Card::Discharge(ChargeKind kind, std::uint64_t bytes) {
  if (kind == ChargeKind::kContext) return;
  const std::lock_guard lock(mutex_);
  (kind == ChargeKind::kRuntime ? runtime_ : vmm_) -= bytes;
}

Ledger Card::CurrentLedger() const {
  const std::lock_guard lock(mutex_);
  return {.total = spec_.bytes,
          .context = context_active_ ? spec_.context_bytes : 0,
          .other = spec_.other_bytes,
          .runtime = runtime_,
          .vmm = vmm_,
          .free = spec_.bytes - UsedLocked(),
          .peak = peak_};
}

}  // namespace memtrace::card
