// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_HOST_MEMORY_H_
#define MEMTRACE_BASE_HOST_MEMORY_H_

#include <string>

#include "base/units.h"

namespace memtrace {

// The memory of the machine as far as this process may use it. 0 if the kernel does not say.
struct HostMemory {
  Bytes total = 0;
  Bytes available = 0;  // what it could take now; caches of files that can be dropped count
};

// Reads /proc/meminfo, and the limits of all control groups (versions 1 and 2) that the process is
// in: those of a container, of a job of Slurm, of a service. Takes some system calls. `root` is the
// folder that has /proc and /sys.
HostMemory ReadHostMemory(const std::string& root = "");

}  // namespace memtrace

#endif  // MEMTRACE_BASE_HOST_MEMORY_H_
