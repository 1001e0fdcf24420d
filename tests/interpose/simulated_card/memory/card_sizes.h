// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_MEMORY_CARD_SIZES_H_
#define MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_MEMORY_CARD_SIZES_H_

#include <cstdint>

#include "interpose/simulated_card/machine.h"

namespace memtrace::card {

constexpr std::uint64_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr std::uint64_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::uint64_t operator""_GiB(unsigned long long n) { return n << 30; }

inline std::uint64_t Free(Machine& machine, int device = 0) {
  return machine.CardAt(device).CurrentLedger().free;
}

}  // namespace memtrace::card

#endif  // MEMTRACE_TESTS_INTERPOSE_SIMULATED_CARD_MEMORY_CARD_SIZES_H_
