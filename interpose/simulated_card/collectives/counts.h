// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COUNTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COUNTS_H_

#include <cstdint>

namespace memtrace::card {

// Returns a number of ranks or channels, which is never negative, as a factor of bytes.
constexpr std::uint64_t Unsigned(int number) { return static_cast<std::uint64_t>(number); }

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COUNTS_H_
