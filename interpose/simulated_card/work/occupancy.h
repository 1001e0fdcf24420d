// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_OCCUPANCY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_OCCUPANCY_H_

#include <cstddef>

namespace memtrace::card {

// The registers assumed for every kernel; their real use is in code that we do not read.
inline constexpr int kRegistersPerThread = 64;

// The resources of one multiprocessor (device attributes of the same names).
struct Multiprocessor {
  int threads = 0;
  int registers = 0;
  int blocks = 0;
  std::size_t shared_bytes = 0;
  std::size_t reserved_shared_bytes = 0;  // in each block
};

// Returns how many blocks fit at once. REQUIRES: block_size > 0.
int ActiveBlocks(const Multiprocessor& offered, int block_size, std::size_t shared_bytes);

// Returns the shared memory that each of `blocks` blocks can have. REQUIRES: blocks > 0.
std::size_t SharedBytesPerBlock(const Multiprocessor& offered, int blocks);

struct LaunchShape {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
};

// True if the shape is within the limits of a launch, which are the same on every card so far.
bool IsValid(const LaunchShape& shape);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_OCCUPANCY_H_
