// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_UNIQUE_DESCRIPTOR_H_
#define MEMTRACE_ALLOCATOR_CARD_UNIQUE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace memtrace {

// Owns a file descriptor and closes it. -1 means none.
class UniqueDescriptor {
 public:
  UniqueDescriptor() = default;
  explicit UniqueDescriptor(int descriptor) : descriptor_(descriptor) {}
  UniqueDescriptor(UniqueDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  UniqueDescriptor& operator=(UniqueDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~UniqueDescriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_UNIQUE_DESCRIPTOR_H_
