// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_NEIGHBOURS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_NEIGHBOURS_H_

#include "interpose/simulated_card/interface/library_calls.h"

namespace memtrace::card {

// Returns what the communicators of this process held of a card when it was most.
memtrace_card_nccl_bytes MostHeldByNccl(int device);

// Returns what the ranks of this process have sent by NCCL so far.
memtrace_card_sent SentByNccl();

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_NEIGHBOURS_H_
