// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PAGED_VECTOR_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PAGED_VECTOR_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace memtrace::interchange {

// A vector that never moves what it holds, so that it takes no more memory than it counts.
// std::deque does the same, but with an allocation for every 512 bytes and a division for most of
// its steps. References stay valid until Clear().
template <typename T>
class PagedVector {
 public:
  size_t size() const { return size_; }
  T& operator[](size_t place) { return pages_[place / kPage][place % kPage]; }
  const T& operator[](size_t place) const { return pages_[place / kPage][place % kPage]; }
  T& back() { return pages_.back().back(); }

  void push_back(T value) {
    if (size_ % kPage == 0) pages_.emplace_back().reserve(kPage);
    pages_.back().push_back(std::move(value));
    ++size_;
  }
  void Append(const T* values, size_t count) {
    while (count > 0) {
      const size_t room = kPage - size_ % kPage;
      if (room == kPage) pages_.emplace_back().reserve(kPage);
      const size_t fits = std::min(room, count);
      pages_.back().insert(pages_.back().end(), values, values + fits);
      size_ += fits;
      values += fits;
      count -= fits;
    }
  }
  // Gives the memory back.
  void Clear() {
    pages_.clear();
    size_ = 0;
  }

 private:
  static constexpr size_t kPage = std::bit_floor((size_t{64} << 10U) / sizeof(T));

  std::vector<std::vector<T>> pages_;  // all but the last are full
  size_t size_ = 0;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PAGED_VECTOR_H_
