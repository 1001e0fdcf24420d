// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/remembered_counts.h"

#include <iterator>
#include <utility>

#include "base/mutex.h"

namespace memtrace::shim {
namespace {

constexpr size_t kMostEntries = 4096;

const c10::StorageImpl* StorageOf(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
}

// Returns 0 for tensors of inference mode, which have no version.
uint32_t VersionOf(const at::Tensor& tensor) {
  const c10::VariableVersion& version = tensor.unsafeGetTensorImpl()->version_counter();
  return version.enabled() ? version.current_version() : 0;
}

}  // namespace

RememberedCounts::Entry* RememberedCounts::FindLocked(const std::string& operation,
                                                      const at::Tensor& tensor) {
  const auto [begin, end] = entries_.equal_range(StorageOf(tensor));
  for (auto at = begin; at != end; ++at) {
    Entry& entry = at->second;
    if (entry.offset == tensor.storage_offset() && entry.operation == operation &&
        tensor.sizes().equals(entry.sizes) && tensor.strides().equals(entry.strides)) {
      return &entry;
    }
  }
  return nullptr;
}

std::optional<int64_t> RememberedCounts::Find(const std::string& operation,
                                              const at::Tensor& tensor) {
  const MutexLock lock(mutex_);
  const Entry* entry = FindLocked(operation, tensor);
  if (entry == nullptr || entry->version != VersionOf(tensor)) return std::nullopt;
  return entry->count;
}

void RememberedCounts::Remember(const std::string& operation, const at::Tensor& tensor,
                                int64_t count) {
  const MutexLock lock(mutex_);
  if (Entry* entry = FindLocked(operation, tensor)) {
    entry->version = VersionOf(tensor);
    entry->count = count;
    return;
  }
  if (entries_.size() >= kMostEntries) MakeRoom();
  entries_.emplace(StorageOf(tensor), Entry{.storage = tensor.storage().getWeakStorageImpl(),
                                            .operation = operation,
                                            .offset = tensor.storage_offset(),
                                            .sizes = tensor.sizes().vec(),
                                            .strides = tensor.strides().vec(),
                                            .version = VersionOf(tensor),
                                            .count = count});
}

void RememberedCounts::MakeRoom() {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    entry = entry->second.storage.expired() ? entries_.erase(entry) : std::next(entry);
  }
  if (entries_.size() >= kMostEntries) entries_.clear();
}

}  // namespace memtrace::shim
