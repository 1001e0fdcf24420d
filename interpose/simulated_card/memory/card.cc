// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/card.h"

#include <algorithm>
#include <optional>

#include "base/mutex.h"

namespace memtrace::card {

Card::Card(const CardSpec& spec, const CardSharing& sharing)
    : spec_(spec),
      sharing_(sharing),
      total_(spec.bytes),
      other_(spec.other_bytes),
      peak_(spec.other_bytes) {}

std::uint64_t Card::ContextBytes() const {
  return ((context_active_ ? 1 : 0) + further_contexts_) * spec_.context_bytes;
}

std::uint64_t Card::Own() const { return ContextBytes() + stream_bytes_ + runtime_ + vmm_; }

// Each stream takes half a MiB, except the first, and 48 KiB of another kind, both in granules. The
// formula follows an H200 with 1 to 200 streams (tests/gpu/recordings/h200/driver_facts.json).
// Other cards were not measured.
std::uint64_t Card::StreamBytes(std::uint64_t streams) const {
  constexpr int kHopper = 9;
  constexpr std::uint64_t kGranule = 2ull << 20;
  if (spec_.compute_capability_major != kHopper || streams == 0) return 0;
  return kGranule * ((streams + 2) / 4 + (3 * streams + 20) / 128);
}

// Before it reports a full card, the driver releases the memory that it keeps from ended streams.
bool Card::OccupyOrReclaim(std::uint64_t bytes) {
  if (Occupy(Own() + bytes)) return true;
  const std::uint64_t needed = StreamBytes(streams_);
  if (needed == stream_bytes_) return false;
  stream_bytes_ = needed;
  return Occupy(Own() + bytes);
}

bool Card::AddStream() {
  const MutexLock lock(mutex_);
  const std::uint64_t needed = StreamBytes(streams_ + 1);
  const std::uint64_t more = needed > stream_bytes_ ? needed - stream_bytes_ : 0;
  if (more > 0 && !Occupy(Own() + more)) return false;
  stream_bytes_ += more;
  ++streams_;
  return true;
}

void Card::RemoveStream() {
  const MutexLock lock(mutex_);
  --streams_;
}

std::uint64_t Card::HeldByOthers() const { return other_ + sharing_.HeldByOthers(); }

// Sets the bytes that this process holds, if the card has them.
bool Card::Occupy(std::uint64_t own) {
  if (own > total_ - other_) return false;
  const std::optional<std::uint64_t> held = sharing_.Hold(own, total_ - other_);
  if (!held.has_value()) return false;
  peak_ = std::max(peak_, other_ + *held + own);
  return true;
}

bool Card::ActivateContext() {
  const MutexLock lock(mutex_);
  if (context_active_) return true;
  context_active_ = Occupy(Own() + spec_.context_bytes);
  return context_active_;
}

void Card::DeactivateContext() {
  const MutexLock lock(mutex_);
  context_active_ = false;
  Occupy(Own());
}

bool Card::AddContext() {
  const MutexLock lock(mutex_);
  if (!Occupy(Own() + spec_.context_bytes)) return false;
  ++further_contexts_;
  return true;
}

void Card::RemoveContext() {
  const MutexLock lock(mutex_);
  --further_contexts_;
  Occupy(Own());
}

bool Card::HasContext() const {
  const MutexLock lock(mutex_);
  return context_active_;
}

bool Card::Charge(ChargeKind kind, std::uint64_t bytes) {
  if (kind == ChargeKind::kContext || kind == ChargeKind::kHost) return true;
  const MutexLock lock(mutex_);
  // The first check avoids overflow, because bytes may be near its type's maximum.
  if (bytes > total_ || !OccupyOrReclaim(bytes)) return false;
  (kind == ChargeKind::kRuntime ? runtime_ : vmm_) += bytes;
  return true;
}

void Card::Discharge(ChargeKind kind, std::uint64_t bytes) {
  if (kind == ChargeKind::kContext || kind == ChargeKind::kHost) return;
  const MutexLock lock(mutex_);
  (kind == ChargeKind::kRuntime ? runtime_ : vmm_) -= bytes;
  Occupy(Own());
}

bool Card::Resize(std::uint64_t total) {
  const MutexLock lock(mutex_);
  if (total < HeldByOthers() + Own()) return false;
  total_ = total;
  return true;
}

bool Card::SetOther(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const std::uint64_t held = HeldByOthers() - other_ + Own();
  if (held > total_ || bytes > total_ - held) return false;
  other_ = bytes;
  return true;
}

void Card::TakeOther(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const std::uint64_t held = HeldByOthers() + Own();
  other_ += std::min(bytes, total_ - std::min(total_, held));
}

Ledger Card::CurrentLedger() const {
  const MutexLock lock(mutex_);
  const std::uint64_t others = HeldByOthers();
  return {.total = total_,
          .context = ContextBytes() + stream_bytes_,
          .other = others,
          .runtime = runtime_,
          .vmm = vmm_,
          .free = total_ - std::min(total_, others + Own()),
          .peak = peak_};
}

}  // namespace memtrace::card
