// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_NOT_THERE_YET_H_
#define MEMTRACE_INTERPOSE_TORCH_NOT_THERE_YET_H_

#include <c10/util/Exception.h>

namespace memtrace::shim {

// What torch's allocator can and ours cannot raises NotImplementedError with its name; nothing is
// silently ignored.
[[noreturn]] inline void NotThereYet(const char* what) {
  C10_THROW_ERROR(
      NotImplementedError,
      c10::str("memtrace: ", what, " is not there yet with memtrace's allocator; run with ",
               "'memtrace run --allocator native' (or MEMTRACE_ALLOCATOR=native) to keep ",
               "torch's own allocator and observe it"));
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_NOT_THERE_YET_H_
