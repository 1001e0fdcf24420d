// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_CUDA_13_CUDA_MAJOR_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_CUDA_13_CUDA_MAJOR_H_

// Definitions specific to the runtime of CUDA 13. The runtime's sources use the names and
// parameters of CUDA 13; cuda_12/cuda_major.h says what differs there.
#include <cuda.h>

#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

namespace memtrace::card {

// Architectures for which torch's CUDA 13 wheels contain code.
inline constexpr int kCompiledArchitectures[] = {75, 80, 86, 90, 100, 120};

// The place of the runtime's header in its wheel.
inline constexpr const char* kRuntimeHeader = "cu13/include/cuda_runtime_api.h";

// CUDA 13 has no properties of a device that CUDA 12 does not have, as far as the card knows them.
inline void FillOwnProperties(cudaDeviceProp*, int) {}

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_CUDA_13_CUDA_MAJOR_H_
