// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_RING_BUFFER_H_
#define MEMTRACE_INTERPOSE_TORCH_RING_BUFFER_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace memtrace::shim {

// Holds the latest `capacity` entries, at least one; the oldest are overwritten.
template <typename Entry>
class RingBuffer {
 public:
  // Keeps the latest entries that still fit.
  void SetCapacity(std::size_t capacity) {
    entries_ = Entries();
    oldest_ = 0;
    capacity_ = std::max<std::size_t>(1, capacity);
    if (entries_.size() <= capacity_) return;
    entries_.erase(entries_.begin(), entries_.end() - static_cast<std::ptrdiff_t>(capacity_));
  }

  void Clear() {
    entries_ = {};
    oldest_ = 0;
  }

  void Add(Entry entry) {
    if (entries_.size() < capacity_) {
      entries_.push_back(std::move(entry));
      return;
    }
    entries_[oldest_] = std::move(entry);
    oldest_ = (oldest_ + 1) % entries_.size();
  }

  // Returns the entries, oldest first.
  std::vector<Entry> Entries() const {
    std::vector<Entry> entries(entries_.begin() + static_cast<std::ptrdiff_t>(oldest_),
                               entries_.end());
    entries.insert(entries.end(), entries_.begin(),
                   entries_.begin() + static_cast<std::ptrdiff_t>(oldest_));
    return entries;
  }

 private:
  std::vector<Entry> entries_;
  std::size_t capacity_ = 1;
  std::size_t oldest_ = 0;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_RING_BUFFER_H_
