// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_SOURCE_VMM_H_
#define MEMTRACE_ALLOCATOR_CARD_SOURCE_VMM_H_

#include <vector>

#include "absl/base/attributes.h"
#include "allocator/card/memory_source.h"
#include "allocator/card/vmm.h"

namespace memtrace {

// Adapts a MemorySource to Vmm, so that segments need not know the difference: a reservation has
// its memory at once, and mapping does nothing. There is one for each stream, because a source is
// told the stream. Thread rule: as Vmm.
class SourceVmm final : public Vmm {
 public:
  // `source` and `card` must outlive this.
  SourceVmm(MemorySource& source ABSL_ATTRIBUTE_LIFETIME_BOUND, StreamId stream,
            Vmm& card ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : source_(source), stream_(stream), card_(card) {}

  Bytes granularity() const override { return card_.granularity(); }
  absl::StatusOr<DeviceAddress> Reserve(Bytes size) override {
    return source_.Allocate(size, stream_);
  }
  absl::Status ReleaseReservation(DeviceAddress address, Bytes size) override {
    source_.Free(address, size, stream_);
    return absl::OkStatus();
  }
  absl::StatusOr<ChunkHandle> Create(Bytes /*size*/) override { return ChunkHandle{}; }
  absl::Status Release(ChunkHandle /*chunk*/) override { return absl::OkStatus(); }
  absl::StatusOr<ChunkHandle> Retain(DeviceAddress /*address*/) override {
    return absl::UnimplementedError("the memory is a pool's own");
  }
  absl::Status Map(DeviceAddress /*address*/, Bytes /*size*/, ChunkHandle /*chunk*/) override {
    return absl::OkStatus();
  }
  absl::Status GiveAccess(DeviceAddress /*address*/, Bytes /*size*/) override {
    return absl::OkStatus();
  }
  absl::Status Unmap(DeviceAddress /*address*/, Bytes /*size*/) override {
    return absl::OkStatus();
  }
  absl::StatusOr<DeviceMemory> MemoryInfo() override { return card_.MemoryInfo(); }
  // Only the author of the source knows whether its memory can be shared.
  absl::StatusOr<UniqueDescriptor> Share(DeviceAddress /*address*/) override {
    return absl::UnimplementedError("the memory is a pool's own");
  }
  absl::Status Admit(DeviceIndex /*peer*/, const std::vector<MappedChunk>& /*mapped*/) override {
    return absl::OkStatus();
  }

 private:
  MemorySource& source_;
  const StreamId stream_;
  Vmm& card_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_SOURCE_VMM_H_
