// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_LIBRARY_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_LIBRARY_MEMORY_H_

#include <cuda.h>

#include <cstddef>
#include <span>
#include <vector>

namespace memtrace::card {

// Memory that a handle of one of CUDA's libraries allocates for itself, beside the workspaces from
// its caller: taken from the current card, given back at the end. Only Hopper cards were measured
// (an H100 and an H200 give the same); on others a handle takes nothing.
//
// Not safe from several threads.
class LibraryMemory {
 public:
  LibraryMemory() = default;
  LibraryMemory(const LibraryMemory&) = delete;
  LibraryMemory& operator=(const LibraryMemory&) = delete;
  ~LibraryMemory() { GiveBack(); }

  // Takes a piece of each size, in bytes. Returns false, and takes nothing, if the card has no
  // room.
  bool Take(std::span<const std::size_t> pieces) {
    if (!IsOnHopper()) return true;
    for (const std::size_t bytes : pieces) {
      CUdeviceptr address = 0;
      if (cuMemAlloc(&address, bytes) != CUDA_SUCCESS) {
        GiveBack();
        return false;
      }
      addresses_.push_back(address);
    }
    return true;
  }

 private:
  static bool IsOnHopper() {
    constexpr int kHopper = 9;
    CUdevice device = 0;
    int major = 0;
    if (cuCtxGetDevice(&device) != CUDA_SUCCESS) return false;
    cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    return major == kHopper;
  }

  void GiveBack() {
    for (const CUdeviceptr address : addresses_) cuMemFree(address);
    addresses_.clear();
  }

  std::vector<CUdeviceptr> addresses_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_LIBRARY_MEMORY_H_
