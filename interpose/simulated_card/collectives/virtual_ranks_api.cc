// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Private functions of memtrace's Python package, which knows the groups of torch.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "interpose/simulated_card/collectives/communicators.h"
#include "interpose/simulated_card/collectives/virtual_ranks.h"

#pragma GCC visibility push(default)
extern "C" {

// Passes on to SetPeer: 1 is real, 0 is virtual, anything else is unknown.
void memtrace_nccl_set_peer(int is_real, int machine) {
  const bool is_known = is_real == 0 || is_real == 1;
  const memtrace::card::PairPeer peer = {.is_real = is_real == 1, .machine = machine};
  memtrace::card::SetPeer(is_known ? std::optional(peer) : std::nullopt);
}

// Passes on to SetOwnContribution.
void memtrace_nccl_set_own(unsigned long long begin, unsigned long long bytes) {
  memtrace::card::SetOwnContribution({.begin = begin, .bytes = bytes});
}

// Writes MadeUpCalls() into text[room], cut off if it is longer.
void memtrace_nccl_made_up(char* text, unsigned long room) {
  if (room == 0) return;
  const std::string calls = memtrace::card::MadeUpCalls();
  const std::size_t bytes = std::min<std::size_t>(calls.size(), room - 1);
  std::memcpy(text, calls.data(), bytes);
  text[bytes] = '\0';
}

}  // extern "C"
#pragma GCC visibility pop
