// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_PROCESS_MEMORY_H_
#define MEMTRACE_INTERPOSE_TORCH_PROCESS_MEMORY_H_

#include <c10/core/Device.h>

#include <string>

namespace memtrace::shim {

// What torch says of the processes on a card when it is full: "Including non-PyTorch memory, this
// process has 600.00 MiB memory in use. Process 71 has ...". Empty where NVML is missing or does
// not tell. Any thread; no lock of ours may be held.
std::string DescribeProcesses(c10::DeviceIndex device);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_PROCESS_MEMORY_H_
