// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/card/memory_vmm.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace memtrace {
namespace {

absl::Status Refused(std::string_view call, std::string_view rule) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(call), ": ", std::string(rule)));
}

}  // namespace

absl::StatusOr<DeviceAddress> MemoryVmm::Reserve(Bytes size) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kReserve));
  if (size == 0 || !IsGranular(size)) return Refused("Reserve", "size is not granular");
  if (next_address_ + size < next_address_) {
    return absl::ResourceExhaustedError("Reserve: no address space left");
  }
  const DeviceAddress address = next_address_;
  next_address_ += size;
  reservations_.emplace(address, size);
  return address;
}

absl::Status MemoryVmm::ReleaseReservation(DeviceAddress address, Bytes size) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kReleaseReservation));
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != size) {
    return Refused("ReleaseReservation", "not a whole reservation");
  }
  const auto mapping = FirstTouching(address);
  if (mapping != mappings_.end() && mapping->first < address + size) {
    return Refused("ReleaseReservation", "something is mapped there");
  }
  reservations_.erase(found);
  return absl::OkStatus();
}

absl::StatusOr<ChunkHandle> MemoryVmm::Create(Bytes size) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kCreate));
  if (size == 0 || !IsGranular(size)) return Refused("Create", "size is not granular");
  if (size > options_.capacity - options_.used_by_others - used_) {
    return absl::ResourceExhaustedError(absl::StrCat("Create: no ", size, " bytes free"));
  }
  used_ += size;
  const ChunkHandle chunk{next_chunk_++};
  chunks_[chunk] = {.size = size};
  return chunk;
}

absl::StatusOr<ChunkHandle> MemoryVmm::CreateOnHost(Bytes size) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kCreate));
  if (size == 0 || !IsGranular(size)) return Refused("CreateOnHost", "size is not granular");
  if (options_.host == 0) return Vmm::CreateOnHost(size);
  if (size > options_.host - on_host_)
    return absl::ResourceExhaustedError("CreateOnHost: the host is full");
  on_host_ += size;
  const ChunkHandle chunk{next_chunk_++};
  chunks_[chunk] = {.size = size, .is_on_host = true};
  return chunk;
}

absl::Status MemoryVmm::Release(ChunkHandle chunk) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kRelease));
  const auto found = chunks_.find(chunk);
  if (found == chunks_.end() || found->second.references == 0) {
    return Refused("Release", "no such chunk");
  }
  --found->second.references;
  Forget(chunk);
  return absl::OkStatus();
}

absl::StatusOr<ChunkHandle> MemoryVmm::Retain(DeviceAddress address) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kRetain));
  const auto mapping = FirstTouching(address);
  if (mapping == mappings_.end() || mapping->first > address)
    return Refused("Retain", "nothing is mapped there");
  ++chunks_.at(mapping->second.chunk).references;
  return mapping->second.chunk;
}

absl::Status MemoryVmm::Map(DeviceAddress address, Bytes size, ChunkHandle chunk) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kMap));
  const auto found = chunks_.find(chunk);
  if (found == chunks_.end() || found->second.references == 0)
    return Refused("Map", "no such chunk");
  if (found->second.size != size) return Refused("Map", "a chunk is mapped whole");
  if (!IsGranular(address.value()) || !IsReserved(address, size)) {
    return Refused("Map", "not in a reservation");
  }
  const auto mapping = FirstTouching(address);
  if (mapping != mappings_.end() && mapping->first < address + size) {
    return Refused("Map", "the range is mapped already");
  }
  mappings_[address] = {.size = size, .chunk = chunk, .is_accessible = false, .uses = {}};
  ++found->second.mappings;
  if (options_.contents != nullptr)
    options_.contents->Copy(found->second.contents, 0, address.value(), size);
  return absl::OkStatus();
}

std::pair<MemoryVmm::Mappings::iterator, MemoryVmm::Mappings::iterator> MemoryVmm::MappingsOf(
    DeviceAddress address, Bytes size) {
  const auto begin = mappings_.find(address);
  auto end = begin;
  DeviceAddress at = address;
  while (at < address + size && end != mappings_.end() && end->first == at) {
    at += (end++)->second.size;
  }
  if (size == 0 || at != address + size) return {mappings_.end(), mappings_.end()};
  return {begin, end};
}

absl::Status MemoryVmm::GiveAccess(DeviceAddress address, Bytes size) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kGiveAccess));
  const auto [begin, end] = MappingsOf(address, size);
  if (begin == mappings_.end()) return Refused("GiveAccess", "not whole mapped chunks");
  for (auto mapping = begin; mapping != end; ++mapping) mapping->second.is_accessible = true;
  return absl::OkStatus();
}

absl::Status MemoryVmm::Unmap(DeviceAddress address, Bytes size) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kUnmap));
  const auto [begin, end] = MappingsOf(address, size);
  if (begin == mappings_.end()) return Refused("Unmap", "not whole mapped chunks");
  for (auto mapping = begin; mapping != end; ++mapping) {
    CheckUnused(mapping->first, mapping->second);
    Chunk& chunk = chunks_[mapping->second.chunk];
    if (options_.contents != nullptr)
      chunk.contents.Copy(*options_.contents, mapping->first.value(), 0, chunk.size);
    --chunk.mappings;
    Forget(mapping->second.chunk);
  }
  mappings_.erase(begin, end);
  if (options_.contents != nullptr) options_.contents->Erase(address.value(), size);
  return absl::OkStatus();
}

absl::StatusOr<DeviceMemory> MemoryVmm::MemoryInfo() {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kMemoryInfo));
  return DeviceMemory{options_.capacity - options_.used_by_others - used_, options_.capacity};
}

void MemoryVmm::NoteUse(DeviceAddress address, Bytes size, MemoryStreams::Work work) {
  DeviceAddress at = address;
  for (auto mapping = FirstTouching(address); at < address + size; ++mapping) {
    if (mapping == mappings_.end() || mapping->first > at || !mapping->second.is_accessible) {
      faults_.push_back(absl::StrCat("use of unmapped memory at ", at.ToString()));
      return;
    }
    auto& uses = mapping->second.uses;
    const auto same = std::find_if(uses.begin(), uses.end(),
                                   [&](const auto& use) { return use.stream == work.stream; });
    if (same == uses.end()) {
      uses.push_back(work);
    } else {
      *same = work;
    }
    at = mapping->first + mapping->second.size;
  }
}

absl::Status MemoryVmm::Next(DriverCall call) {
  return failures_ == nullptr ? absl::OkStatus() : failures_->Next(call);
}

bool MemoryVmm::IsReserved(DeviceAddress address, Bytes size) const {
  auto above = reservations_.upper_bound(address);
  if (above == reservations_.begin()) return false;
  const auto& [start, length] = *std::prev(above);
  return address - start + size <= length;
}

// Returns the lowest mapping that ends above `address`.
MemoryVmm::Mappings::iterator MemoryVmm::FirstTouching(DeviceAddress address) {
  auto at = mappings_.upper_bound(address);
  if (at == mappings_.begin()) return at;
  const auto below = std::prev(at);
  return below->first + below->second.size > address ? below : at;
}

void MemoryVmm::CheckUnused(DeviceAddress address, const Mapping& mapping) {
  if (streams_ == nullptr) return;
  for (const MemoryStreams::Work work : mapping.uses) {
    if (streams_->IsFinished(work)) continue;
    faults_.push_back(absl::StrCat("unmapped ", address.ToString(), " while work ", work.number,
                                   " of stream ", static_cast<uint64_t>(work.stream), " uses it"));
  }
}

// Forgets a chunk once it is released and unmapped: only then its memory returns to the card.
void MemoryVmm::Forget(ChunkHandle chunk) {
  const auto found = chunks_.find(chunk);
  const Chunk& unused = found->second;
  if (unused.references > 0 || unused.mappings > 0) return;
  (unused.is_on_host ? on_host_ : used_) -= unused.size;
  chunks_.erase(found);
}

}  // namespace memtrace
