// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_MEMORY_VMM_H_
#define MEMTRACE_ALLOCATOR_CARD_MEMORY_VMM_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/card/call_failures.h"
#include "allocator/card/memory_contents.h"
#include "allocator/card/memory_streams.h"
#include "allocator/card/vmm.h"
#include "base/units.h"

namespace memtrace {

// A card that exists only as bookkeeping: it has every rule of Vmm, but no memory. Tests, trace
// replay and planning run the allocator on it. It is stricter than a card because it also notes a
// *fault*, which a real driver would answer with corrupted data or a dead context: memory that is
// touched where none is mapped, or unmapped while work that uses it is unfinished.
//
// Addresses ascend and are never reused. Thread rule: as Vmm.
class MemoryVmm : public Vmm {
 public:
  struct Options {
    Bytes capacity = 0;
    Bytes granularity = 2_MiB;
    Bytes used_by_others = 0;            // the context and other processes
    Bytes host = 0;                      // of the host, for chunks; 0: it cannot have any
    MemoryContents* contents = nullptr;  // of mapped memory; lost when it is unmapped
  };

  // `streams` tells which work is unfinished, `failures` which calls fail; both may be null and
  // must outlive this.
  explicit MemoryVmm(const Options& options, const MemoryStreams* streams = nullptr,
                     CallFailures* failures = nullptr)
      : options_(options), streams_(streams), failures_(failures) {}

  Bytes granularity() const override { return options_.granularity; }
  absl::StatusOr<DeviceAddress> Reserve(Bytes size) override;
  absl::Status ReleaseReservation(DeviceAddress address, Bytes size) override;
  absl::StatusOr<ChunkHandle> Create(Bytes size) override;
  absl::StatusOr<ChunkHandle> CreateOnHost(Bytes size) override;
  absl::StatusOr<ChunkHandle> Retain(DeviceAddress address) override;
  absl::Status Release(ChunkHandle chunk) override;
  absl::Status Map(DeviceAddress address, Bytes size, ChunkHandle chunk) override;
  absl::Status GiveAccess(DeviceAddress address, Bytes size) override;
  absl::Status Unmap(DeviceAddress address, Bytes size) override;
  absl::StatusOr<DeviceMemory> MemoryInfo() override;
  absl::StatusOr<UniqueDescriptor> Share(DeviceAddress /*address*/) override {
    return absl::UnimplementedError("this card exists only as bookkeeping");
  }
  absl::Status Admit(DeviceIndex /*peer*/, const std::vector<MappedChunk>& /*mapped*/) override {
    return absl::OkStatus();
  }

  // Records that `work` touches [address, address + size).
  void NoteUse(DeviceAddress address, Bytes size, MemoryStreams::Work work);

  const std::vector<std::string>& faults() const { return faults_; }

  // Objects that have not been given back: all are 0 after a clean end.
  size_t live_reservations() const { return reservations_.size(); }
  size_t live_chunks() const { return chunks_.size(); }
  size_t live_mappings() const { return mappings_.size(); }
  Bytes used() const { return used_; }
  Bytes on_host() const { return on_host_; }

 private:
  struct Chunk {
    Bytes size = 0;
    bool is_on_host = false;
    uint32_t mappings = 0;
    uint32_t references = 1;
    MemoryContents contents = {};  // while it is not mapped
  };
  struct Mapping {
    Bytes size = 0;
    ChunkHandle chunk{};
    bool is_accessible = false;
    std::vector<MemoryStreams::Work> uses;  // the last use of each stream
  };
  using Mappings = absl::btree_map<DeviceAddress, Mapping>;

  absl::Status Next(DriverCall call);
  bool IsGranular(Bytes value) const { return value % options_.granularity == 0; }
  bool IsReserved(DeviceAddress address, Bytes size) const;
  Mappings::iterator FirstTouching(DeviceAddress address);
  // Returns the mappings that tile the range; end() twice if none do.
  std::pair<Mappings::iterator, Mappings::iterator> MappingsOf(DeviceAddress address, Bytes size);
  void CheckUnused(DeviceAddress address, const Mapping& mapping);
  void Forget(ChunkHandle chunk);

  const Options options_;
  const MemoryStreams* const streams_;
  CallFailures* const failures_;
  absl::btree_map<DeviceAddress, Bytes> reservations_;
  Mappings mappings_;
  absl::flat_hash_map<ChunkHandle, Chunk> chunks_;
  DeviceAddress next_address_{uint64_t{0x7} << 40};
  uint64_t next_chunk_ = 1;
  Bytes used_ = 0;
  Bytes on_host_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_MEMORY_VMM_H_
