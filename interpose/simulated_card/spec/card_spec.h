// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_CARD_SPEC_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_CARD_SPEC_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/simulated_card/interface/card_link.h"

namespace memtrace::card {

// The requested cards, one entry each. All sizes are in bytes.
struct CardSpec {
  std::string profile = "";  // empty for a card given by size
  std::uint64_t bytes = 0;
  std::uint64_t context_bytes = 0;  // charged when a process creates its context
  std::uint64_t other_bytes = 0;    // held by other processes
  int compute_capability_major = 8;
  int compute_capability_minor = 0;
  int multiprocessors = 0;
  bool addresses_ascend = false;  // as in drivers for Windows
  CardLink link = CardLink::kHost;
  int nccl_channels = 4;  // of a communicator of several such cards
  // Bytes that each communicator of several ranks takes, instead of those of NCCL's rule.
  std::optional<std::uint64_t> nccl_bytes = std::nullopt;
};

// The most cards of a process (C10_COMPILE_TIME_MAX_GPUS of torch allows 120, a node has 16 at
// most).
inline constexpr std::size_t kMaxCards = 16;

// Reads one or more SPECs joined by ';', the form of the environment variable MEMTRACE_CARD:
//
//   SPEC = CARD[,key=value]...        CARD = [N x](SIZE or profile)
//   SIZE = number (decimals allowed) followed by GiB or MiB
//   key  = other (SIZE) | context (SIZE, default 500MiB) | cc (8.0 by default or the profile's)
//        | size (SIZE: a card of that kind with other memory) | os (linux, or windows, whose
//          driver hands out ascending addresses) | link (nvlink, pcie or host: how NCCL reaches
//          the machine's other cards; the profile's, or for a size nvlink from 40 GiB on, else
//          host) | nccl (SIZE: what each communicator of several ranks takes, instead
//          of what NCCL's rule gives)
//
//   "24GiB"   "2x80GiB,other=3GiB"   "rtx-4090"   "4xa100-80gb,context=450MiB"   "80GiB;24GiB"
//
// Returns false and one sentence in *error (what, where, what to write instead) if it does not
// parse; *cards is then unchanged. Needs no CUDA; safe from any thread.
bool ParseCardSpecs(std::string_view text, std::vector<CardSpec>* cards, std::string* error);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_CARD_SPEC_H_
