// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_VERSIONS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_VERSIONS_H_

namespace memtrace::card {

// Versions of NCCL, as ncclGetVersion has them, from which on it takes other memory
// (docs/design/nccl-memory.md).
inline constexpr int kVersion222 =
    22200;  // connects on use; reserves the switch's memory by its channels
inline constexpr int kVersion223 = 22304;
inline constexpr int kVersion224 = 22400;   // memory of the host is cuMemCreate's, too
inline constexpr int kVersion225 = 22500;   // up to 64 channels
inline constexpr int kVersion227 = 22700;   // another number of the switch's channels on Blackwell
inline constexpr int kVersion2289 = 22809;  // uses the switch for two ranks

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_VERSIONS_H_
