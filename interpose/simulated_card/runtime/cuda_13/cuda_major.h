// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_CUDA_13_CUDA_MAJOR_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_CUDA_13_CUDA_MAJOR_H_

// What the runtime of CUDA 13 has of its own. The sources of the runtime are written with the
// names and the parameters of CUDA 13; cuda_12/cuda_major.h says what differs there.
#include <cuda.h>

#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

namespace memtrace::card {

// Architectures for which torch's wheels of CUDA 13 carry code.
inline constexpr int kCompiledArchitectures[] = {75, 80, 86, 90, 100, 120};

// Where the wheel with the runtime has its header.
inline constexpr const char* kRuntimeHeader = "cu13/include/cuda_runtime_api.h";

// CUDA 13 has no properties of a device that CUDA 12 does not have, as far as the card knows them.
inline void FillOwnProperties(cudaDeviceProp*, int) {}

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_CUDA_13_CUDA_MAJOR_H_
