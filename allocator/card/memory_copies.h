// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_MEMORY_COPIES_H_
#define MEMTRACE_ALLOCATOR_CARD_MEMORY_COPIES_H_

#include "absl/base/attributes.h"
#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/card/call_failures.h"
#include "allocator/card/chunk_copies.h"
#include "allocator/card/memory_contents.h"
#include "allocator/card/memory_vmm.h"
#include "base/units.h"

namespace memtrace {

// Copies of the contents of a MemoryVmm. It is a fault of the card if a copy reads or writes memory
// that is not mapped.
//
// Thread rule: as Vmm.
class MemoryCopies : public ChunkCopies {
 public:
  // `card` is the contents of the MemoryVmm; `failures` may be null. All must outlive this.
  MemoryCopies(MemoryVmm& vmm ABSL_ATTRIBUTE_LIFETIME_BOUND,
               MemoryContents& card ABSL_ATTRIBUTE_LIFETIME_BOUND, Bytes host,
               CallFailures* failures = nullptr)
      : vmm_(vmm), card_(card), host_(host), failures_(failures) {}

  absl::StatusOr<HostPiece> TakeHostMemory(Bytes size) override;
  void GiveHostMemoryBack(const HostPiece& piece) override;
  absl::Status ToHost(DeviceAddress from, uint64_t host, Bytes size) override;
  absl::Status ToCard(uint64_t host, DeviceAddress to, Bytes size) override;
  absl::Status Within(DeviceAddress from, DeviceAddress to, Bytes size) override;
  absl::Status Clear(DeviceAddress address, Bytes size) override;
  absl::Status Wait() override { return Next(DriverCall::kCopy); }

  Bytes taken() const { return taken_; }  // of the host's memory

 private:
  absl::Status Next(DriverCall call) {
    return failures_ == nullptr ? absl::OkStatus() : failures_->Next(call);
  }

  void NoteUse(DeviceAddress address, Bytes size);

  MemoryVmm& vmm_;
  MemoryContents& card_;
  const Bytes host_;
  CallFailures* const failures_;
  MemoryContents contents_;
  absl::btree_map<uint64_t, Bytes> pieces_;
  uint64_t next_address_ = uint64_t{1} << 40;
  Bytes taken_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_MEMORY_COPIES_H_
