// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/occupancy.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace memtrace::card {

int ActiveBlocks(const Multiprocessor& offered, int block_size, std::size_t shared_bytes) {
  const int by_threads = offered.threads / block_size;
  const int by_registers = offered.registers / (kRegistersPerThread * block_size);
  const int by_shared =
      shared_bytes == 0
          ? offered.blocks
          : static_cast<int>(offered.shared_bytes / (shared_bytes + offered.reserved_shared_bytes));
  return std::min({by_threads, by_registers, by_shared, offered.blocks});
}

std::size_t SharedBytesPerBlock(const Multiprocessor& offered, int blocks) {
  const std::size_t each = offered.shared_bytes / static_cast<std::size_t>(blocks);
  return each < offered.reserved_shared_bytes ? 0 : each - offered.reserved_shared_bytes;
}

bool IsValid(const LaunchShape& shape) {
  constexpr unsigned kMostGridX = std::numeric_limits<int>::max();
  constexpr unsigned kMostGridYZ = 65535;
  constexpr unsigned kMostBlockZ = 64;
  constexpr std::uint64_t kMostThreads = 1024;
  if (shape.grid_x == 0 || shape.grid_y == 0 || shape.grid_z == 0) return false;
  if (shape.grid_x > kMostGridX || shape.grid_y > kMostGridYZ || shape.grid_z > kMostGridYZ)
    return false;
  const std::uint64_t threads = std::uint64_t{shape.block_x} * shape.block_y * shape.block_z;
  return threads > 0 && threads <= kMostThreads && shape.block_z <= kMostBlockZ;
}

}  // namespace memtrace::card
