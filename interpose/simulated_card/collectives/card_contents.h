// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_CARD_CONTENTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_CARD_CONTENTS_H_

#include "interpose/simulated_card/collectives/collective_parts.h"
#include "interpose/simulated_card/collectives/communicators.h"

namespace memtrace::card {

// Returns what the rank gives to the call, if that is small enough to be exchanged.
Part ReadFromCard(const CollectiveCall& call);

// Writes the part, or states that the bytes are unknown if it is not held.
void WriteToCard(const DeviceRange& taken, const Part& part);

// Ends a call whose root is virtual and sends nothing: the receiver's buffer stays as it is, and
// its bytes are assumed at best.
void KeepAsAssumed(const DeviceRange& taken);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_CARD_CONTENTS_H_
