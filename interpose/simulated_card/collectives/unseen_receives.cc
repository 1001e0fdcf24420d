// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/unseen_receives.h"

#include <cstdio>
#include <string>
#include <vector>

#include "interpose/simulated_card/collectives/virtual_ranks.h"
#include "interpose/simulated_card/interface/card_ranges.h"

namespace memtrace::card {
namespace {

bool IsReceivedUnseen(const CollectiveCall& call) {
  return call.kind == CollectiveCall::kReceive &&
         call.size > MostExchangedBytes(call.communicator->real) && HasJobVirtualRanks();
}

// The callback does not keep the call, which would keep the communicator alive: that owns the
// member which calls back.
void CheckLater(const CollectiveCall& call, RendezvousMember::Ticket ticket) {
  Communicator* ours = call.communicator.get();
  ours->member->AnswerLater(ticket, [ours, size = call.size, text = ReceiveText(call)](
                                        const std::vector<std::string>& answer) {
    const std::uint64_t sent = Decode(answer.front()).size;
    if (sent == size) return;
    ours->error = ncclInvalidUsage;
    std::fprintf(stderr, "memtrace: %s%llu\n", text.c_str(), static_cast<unsigned long long>(sent));
  });
}

}  // namespace

bool ReceiveUnseen(const CollectiveCall& call, RendezvousMember::Ticket ticket) {
  if (!IsReceivedUnseen(call)) return false;
  CheckLater(call, ticket);
  memtrace_card_set_known(call.taken.begin, call.taken.bytes, MEMTRACE_CARD_UNKNOWN);
  return true;
}

std::string ReceiveText(const CollectiveCall& receive) {
  return "rank " + std::to_string(receive.communicator->rank) + " receives " +
         std::to_string(receive.size) + " bytes, rank " + std::to_string(receive.peer) + " sends ";
}

}  // namespace memtrace::card
