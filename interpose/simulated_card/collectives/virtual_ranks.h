// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_VIRTUAL_RANKS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_VIRTUAL_RANKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interpose/simulated_card/collectives/collective_parts.h"
#include "interpose/simulated_card/collectives/nccl_header.h"
#include "interpose/simulated_card/collectives/rank_machines.h"

namespace memtrace::card {

// The ranks of one communicator that are processes. The others are virtual: nothing waits for them,
// and what they would give is taken from a real rank (docs/design/virtual-ranks.md).
class RealRanks {
 public:
  explicit RealRanks(int size);  // all are real
  // `real` is not empty, ascending, and each is below `size`.
  RealRanks(int size, std::vector<int> real) : size_(size), real_(std::move(real)) {}

  int size() const { return size_; }
  int count() const { return static_cast<int>(real_.size()); }
  bool AreAll() const { return count() == size_; }
  bool Contains(int rank) const;
  const std::vector<int>& ranks() const { return real_; }

  // Returns the place of a real rank among the real ones.
  int IndexOf(int rank) const;
  // Returns the real rank with the least distance; of two, the lower.
  int NearestTo(int rank) const;

 private:
  int size_;
  std::vector<int> real_;
};

// A group of torch, as memtrace's Python package describes it.
struct GroupRanks {
  RealRanks real;
  RankMachines machines;
};

// Reads "memtrace-ranks:SIZE:R0,R1,...:MACHINES" (ParseRankMachines), which the package passes for
// each group as the name of the network module. Without MACHINES all ranks are in one. Returns
// nothing for any other text.
std::optional<GroupRanks> ParseGroupRanks(std::string_view text);

// True if `memtrace run --world` started this process and some of the job's ranks are virtual.
bool HasJobVirtualRanks();

// Returns how many bytes of each rank's contents a call exchanges at most.
std::uint64_t MostExchangedBytes(const RealRanks& ranks);

// Finds the real ranks of a new communicator: from the configuration, which describes the group it
// is for, or from the environment if it has as many ranks as the job. `config` may be null. Returns
// nothing if the job has virtual ranks and neither tells.
std::optional<RealRanks> FindRealRanks(const ncclConfig_t* config, int size, int rank);

// Finds the machines of a new communicator's ranks likewise, in a job with virtual ranks; `cards`
// is the number of cards of each machine. Returns nothing if all ranks of the job are real, since
// they can tell each other.
std::optional<RankMachines> FindMachines(const ncclConfig_t* config, int size, int rank, int cards);

// Returns the number of this process's machine; 0 if `memtrace run --world` did not start it.
int OwnMachine(int cards);

// Returns the parts of all ranks, from those of the real ones: a virtual rank repeats the nearest
// real rank's, and its bytes are assumed at best.
Parts WithVirtualRanks(const Parts& real_parts, const RealRanks& ranks);

// Lowers what is known of the part's bytes to assumed.
void Assume(Part* part);

// The other rank of a pair that sends and receives.
struct PairPeer {
  bool is_real = true;
  int machine = 0;
};
// Says who is the other rank of the next communicator of two ranks that this thread makes: torch
// makes one for a pair, whatever the size of the group. Nothing: unknown.
void SetPeer(std::optional<PairPeer> peer);

// Counts a call in which a virtual rank's contents were needed. Safe from any thread.
void CountMadeUp(std::string_view call);
// Returns these calls, as "ncclAllGather 2, ncclRecv 1"; "" if there were none.
std::string MadeUpCalls();

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_VIRTUAL_RANKS_H_
