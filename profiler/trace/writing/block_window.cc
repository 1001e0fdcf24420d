// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/block_window.h"

#include <sys/mman.h>
#include <sys/types.h>

#include <utility>

namespace memtrace::trace {

bool BlockWindow::MoveTo(int fd, uint64_t offset) {
  void* next =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (next == MAP_FAILED) return false;
  Unmap();
  pages_ = static_cast<uint8_t*>(next);
  offset_ = offset;
  return true;
}

void BlockWindow::Unmap() {
  if (pages_ != nullptr) munmap(std::exchange(pages_, nullptr), kBytes);
}

}  // namespace memtrace::trace
