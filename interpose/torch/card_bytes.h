// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_CARD_BYTES_H_
#define MEMTRACE_INTERPOSE_TORCH_CARD_BYTES_H_

#include <c10/core/Device.h>

#include <cstdint>

namespace memtrace::shim {

// Returns the bytes of a card, which cudaGetDeviceProperties calls totalGlobalMem. That function
// has another symbol and another struct in each major version of CUDA, but a shim serves its torch
// in builds for any of them; cudaMemGetInfo would create a context on an unused card. Throws
// c10::Error if the driver does not tell. Any thread.
uint64_t TotalBytes(c10::DeviceIndex device);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_CARD_BYTES_H_
