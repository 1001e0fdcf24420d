// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NEW_COMMUNICATOR_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NEW_COMMUNICATOR_H_

#include <string>

#include "interpose/simulated_card/collectives/nccl_header.h"

namespace memtrace::card {

// How a rank of a communicator is made: it meets the others, learns their machines and takes NCCL's
// memory of the card. Safe from any thread.

// Makes a unique name for a communicator and opens its rendezvous in this process.
ncclResult_t OpenNew(std::string* name);

// Makes one of `size` ranks that meet at `name`, on the thread's card. Ends when all real ranks are
// there; within a group, at the group's end, and only then the communicator can be used. `config`
// may be null. *made is null after an error. Fails with ncclInvalidUsage if it is not known which
// ranks are virtual.
ncclResult_t MakeRank(const std::string& name, int rank, int size, const ncclConfig_t* config,
                      ncclComm_t* made);

// The same for a communicator of which all ranks are real.
ncclResult_t MakeRealRank(const std::string& name, int rank, int size, const ncclConfig_t* config,
                          ncclComm_t* made);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NEW_COMMUNICATOR_H_
