// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_CODE_RANGE_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_CODE_RANGE_H_

#include <cstdint>

namespace memtrace {

// The address range of a loaded file's code, to attribute a return address without calling the
// loader.
struct CodeRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  bool Has(const void* address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return at >= begin && at < end;
  }

  // Returns the range of the file that `address` lies in; empty if there is none. Calls the loader,
  // which takes a lock.
  static CodeRange Of(const void* address);
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_CODE_RANGE_H_
