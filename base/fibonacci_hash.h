// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_FIBONACCI_HASH_H_
#define MEMTRACE_BASE_FIBONACCI_HASH_H_

#include <cstddef>
#include <cstdint>

namespace memtrace {

// Returns a slot among 2^kBits (Knuth, The Art of Computer Programming 3, 6.4): keys that differ by
// little, or by powers of two, get different slots.
template <int kBits>
constexpr size_t FibonacciHash(uint64_t key) {
  return (key * 0x9E3779B97F4A7C15) >> (64 - kBits);
}

}  // namespace memtrace

#endif  // MEMTRACE_BASE_FIBONACCI_HASH_H_
