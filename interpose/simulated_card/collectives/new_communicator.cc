// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/new_communicator.h"

#include <sys/random.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "interpose/simulated_card/collectives/communicators.h"
#include "interpose/simulated_card/collectives/nccl_options.h"
#include "interpose/simulated_card/collectives/number_text.h"
#include "interpose/simulated_card/collectives/thread_card.h"
#include "interpose/simulated_card/interface/library_calls.h"

namespace memtrace::card {
namespace {

// One rank of a communicator to be made.
struct NewRank {
  std::string name;
  int rank = 0;
  RealRanks real = RealRanks(1);
  std::optional<RankMachines> machines;  // nothing: the ranks tell each other
  NcclOptions options;
};

NcclOptions OptionsWith(const ncclConfig_t* config) {
  NcclOptions options = ReadNcclOptions();
  AddConfig(config, &options);
  return options;
}

// Each rank told the number of its machine.
RankMachines MachinesTold(const Parts& parts) {
  std::vector<int> machines;
  for (const Part& part : parts) {
    std::string_view text = part.bytes;
    machines.push_back(TakeNumber(&text).value_or(0));
  }
  return RankMachines(std::move(machines));
}

// Ends the making of a communicator whose real ranks have met.
ncclResult_t Settle(const NewRank& wanted, const Parts& parts, Communicator* communicator) {
  communicator->machines = wanted.machines ? *wanted.machines : MachinesTold(parts);
  int version = 0;
  ncclGetVersion(&version);
  communicator->memory = CommunicatorMemory::Take(communicator->device, wanted.options, version,
                                                  communicator->machines, communicator->rank);
  return communicator->memory == nullptr ? FailForMemory() : ncclSuccess;
}

ncclResult_t Join(const NewRank& wanted, Communicator* communicator) {
  communicator->rank = wanted.rank;
  communicator->size = wanted.real.size();
  communicator->real = wanted.real;
  if (FindThreadCard(&communicator->device) != CUDA_SUCCESS)
    return Fail(ncclUnhandledCudaError, "there is no card");
  if (communicator->size == 1) return ncclSuccess;
  communicator->member =
      RendezvousMember::Join(wanted.name, wanted.real.IndexOf(wanted.rank), wanted.real.count());
  if (communicator->member != nullptr) return ncclSuccess;
  return Fail(ncclSystemError,
              "the rank that made the communicator's id cannot be reached: on a simulated card "
              "all ranks must run on one machine, and that one must still run");
}

// Makes the call in which the ranks of a communicator meet.
ncclResult_t Meet(const NewRank& wanted, const CommunicatorPointer& communicator) {
  const std::string machine = std::to_string(OwnMachine(memtrace_card_installed_count()));
  return Call(
      {.name = "ncclCommInitRank",
       .communicator = communicator,
       .told = machine,
       .when_met = [wanted, communicator](
                       const Parts& parts) { return Settle(wanted, parts, communicator.get()); },
       .copies_alone = false,
       .is_launched = false});
}

ncclResult_t Make(const NewRank& wanted, ncclComm_t* made) {
  *made = nullptr;
  auto communicator = std::make_shared<Communicator>();
  const ncclResult_t joined = Join(wanted, communicator.get());
  if (joined != ncclSuccess) return joined;
  ncclComm_t handle = Register(communicator);
  const ncclResult_t met = Meet(wanted, communicator);
  if (met == ncclSuccess) {
    *made = handle;
  } else {
    Forget(handle);
  }
  return met;
}

}  // namespace

ncclResult_t OpenNew(std::string* name) {
  std::uint64_t random[2];
  if (getrandom(random, sizeof(random), 0) != sizeof(random))
    return Fail(ncclSystemError, "the machine gives no random bytes");
  *name = "memtrace-nccl-" + std::to_string(random[0]) + "-" + std::to_string(random[1]);
  if (OpenRendezvous(*name)) return ncclSuccess;
  return Fail(ncclSystemError, "the machine does not allow a Unix socket");
}

// A rank that is real alone needs no id that others know.
ncclResult_t MakeRank(const std::string& name, int rank, int size, const ncclConfig_t* config,
                      ncclComm_t* made) {
  const auto real = FindRealRanks(config, size, rank);
  if (!real || !real->Contains(rank)) {
    return Fail(ncclInvalidUsage,
                "the job has virtual ranks, and a communicator of " + std::to_string(size) +
                    " ranks was not made by torch.distributed, so it is not known which of them "
                    "are virtual");
  }
  NewRank wanted = {.name = name,
                    .rank = rank,
                    .real = *real,
                    .machines = FindMachines(config, size, rank, memtrace_card_installed_count()),
                    .options = OptionsWith(config)};
  if (size > 1 && real->count() == 1) {
    const ncclResult_t opened = OpenNew(&wanted.name);
    if (opened != ncclSuccess) return opened;
  }
  return Make(wanted, made);
}

ncclResult_t MakeRealRank(const std::string& name, int rank, int size, const ncclConfig_t* config,
                          ncclComm_t* made) {
  return Make({.name = name,
               .rank = rank,
               .real = RealRanks(size),
               .machines = std::nullopt,
               .options = OptionsWith(config)},
              made);
}

}  // namespace memtrace::card
