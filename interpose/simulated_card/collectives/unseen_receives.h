// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_UNSEEN_RECEIVES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_UNSEEN_RECEIVES_H_

#include <string>

#include "interpose/simulated_card/collectives/communicators.h"
#include "interpose/simulated_card/collectives/rendezvous.h"

namespace memtrace::card {

// Ends a receive of contents that are too large to be exchanged, in a job with virtual ranks. They
// stay unknown, so nothing has to wait for them: the stages of a pipeline compute at the same time,
// where waiting would let only one of them compute at a time. The sizes are compared once the
// answer is there. The call has succeeded by then, so a difference is the communicator's error from
// then on, and is said on stderr. Returns false, and does nothing, for any other call. REQUIRES:
// the communicator has a member, and `ticket` is its request.
bool ReceiveUnseen(const CollectiveCall& call, RendezvousMember::Ticket ticket);

// Returns "rank 1 receives 8 bytes, rank 0 sends ", to be followed by what the sender sent.
std::string ReceiveText(const CollectiveCall& receive);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_UNSEEN_RECEIVES_H_
