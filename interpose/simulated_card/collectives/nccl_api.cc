// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// NCCL: communicators. Ranks are processes of one machine, or of one process;
// docs/design/collectives.md.
#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "base/units.h"
#include "interpose/simulated_card/collectives/communicators.h"
#include "interpose/simulated_card/collectives/nccl_header.h"
#include "interpose/simulated_card/collectives/new_communicator.h"
#include "interpose/simulated_card/collectives/thread_card.h"
#include "interpose/simulated_card/wheels/stated_version.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

std::string NameIn(const ncclUniqueId& id) {
  return {id.internal, strnlen(id.internal, sizeof(id.internal))};
}

template <typename Value, typename Member>
ncclResult_t Give(ncclComm_t handle, Value* out, Member member) {
  const CommunicatorPointer communicator = Find(handle);
  if (communicator == nullptr || out == nullptr)
    return Fail(ncclInvalidArgument,
                "the communicator is invalid, or the pointer for the answer is null");
  *out = (*communicator).*member;
  return ncclSuccess;
}

ncclResult_t End(ncclComm_t handle) {
  const CommunicatorPointer communicator = Find(handle);
  if (communicator == nullptr) return Fail(ncclInvalidArgument, "the communicator is invalid");
  Forget(handle);
  return ncclSuccess;
}

}  // namespace
}  // namespace memtrace::card

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  static const auto kVersion =
      StatedVersion(HeaderBesideTorch("nccl/include/nccl.h"),
                    {{"NCCL_MAJOR", 10000}, {"NCCL_MINOR", 100}, {"NCCL_PATCH", 1}})
          .value_or(NCCL_VERSION_CODE);
  *version = static_cast<int>(kVersion);
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

const char* ncclGetLastError(ncclComm_t) { return LastError(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (id == nullptr) return Fail(ncclInvalidArgument, "the pointer for the id is null");
  std::string name;
  const ncclResult_t opened = OpenNew(&name);
  std::memset(id->internal, 0, sizeof(id->internal));
  std::memcpy(id->internal, name.data(), std::min(name.size(), sizeof(id->internal) - 1));
  return opened;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (comm == nullptr || size < 1 || rank < 0 || rank >= size)
    return Fail(ncclInvalidArgument, "a rank must be less than the number of ranks");
  return MakeRank(NameIn(id), rank, size, config, comm);
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, size, id, rank, nullptr);
}

ncclResult_t ncclCommInitRankScalable(ncclComm_t* comm, int size, int rank, int ids,
                                      ncclUniqueId* all, ncclConfig_t* config) {
  if (all == nullptr || ids < 1) return Fail(ncclInvalidArgument, "there must be an id");
  return ncclCommInitRankConfig(comm, size, all[0], rank, config);
}

// If devices is null, the first devices are used.
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int size, const int* devices) {
  if (comms == nullptr || size < 1)
    return Fail(ncclInvalidArgument, "there is no room for communicators");
  std::string name;
  ncclResult_t result = OpenNew(&name);
  StartGroup();
  for (int rank = 0; rank < size && result == ncclSuccess; ++rank) {
    const OnCard card(devices == nullptr ? rank : devices[rank]);
    result = card.result() == CUDA_SUCCESS ? MakeRealRank(name, rank, size, nullptr, &comms[rank])
                                           : Fail(ncclInvalidArgument, "there is no such device");
  }
  const ncclResult_t ended = EndGroup();
  return result == ncclSuccess ? ended : result;
}

// The parent's ranks exchange color and key; the first rank of each color opens the rendezvous.
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made,
                           ncclConfig_t* config) {
  const CommunicatorPointer parent = Find(comm);
  if (parent == nullptr || made == nullptr)
    return Fail(ncclInvalidArgument,
                "the communicator is invalid, or the pointer for the new one is null");
  *made = nullptr;
  if (!parent->real.AreAll())
    return Fail(ncclInvalidUsage, "ncclCommSplit: the colors of virtual ranks are not known");
  const auto wishes = Exchange(*parent, std::to_string(color) + " " + std::to_string(key));
  if (!wishes) return Fail(ncclRemoteError, "ncclCommSplit: another rank has ended");
  std::vector<std::pair<int, int>> members;  // key, rank in the parent
  for (std::size_t rank = 0; rank < wishes->size(); ++rank) {
    const std::string& wish = (*wishes)[rank];
    const std::size_t space = wish.find(' ');
    if (std::stoi(wish) == color)
      members.emplace_back(std::stoi(wish.substr(space)), static_cast<int>(rank));
  }
  std::sort(members.begin(), members.end());
  const bool takes_part = color != NCCL_SPLIT_NOCOLOR;
  std::string name;
  if (takes_part && members.front().second == parent->rank) OpenNew(&name);
  const auto names = Exchange(*parent, name);
  if (!names) return Fail(ncclRemoteError, "ncclCommSplit: another rank has ended");
  if (!takes_part) return ncclSuccess;
  const auto own = std::find_if(members.begin(), members.end(),
                                [&](const auto& member) { return member.second == parent->rank; });
  return MakeRealRank((*names)[static_cast<std::size_t>(members.front().second)],
                      static_cast<int>(own - members.begin()), static_cast<int>(members.size()),
                      config, made);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return Find(comm) == nullptr ? Fail(ncclInvalidArgument, "the communicator is invalid")
                               : ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) { return End(comm); }

// Another thread that waits for ranks of this communicator stops waiting.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const CommunicatorPointer communicator = Find(comm);
  if (communicator != nullptr && communicator->member != nullptr) communicator->member->Leave();
  return End(comm);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return Give(comm, error, &Communicator::error);
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return Give(comm, count, &Communicator::size);
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return Give(comm, device, &Communicator::device);
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return Give(comm, rank, &Communicator::rank);
}

// Registered memory is used like any other.
ncclResult_t ncclCommRegister(const ncclComm_t, void* buffer, std::size_t, void** handle) {
  if (handle == nullptr) return Fail(ncclInvalidArgument, "the pointer for the handle is null");
  *handle = buffer;
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t, void*) { return ncclSuccess; }

// Allocates in granules of cuMemCreate, as NCCL does.
ncclResult_t ncclMemAlloc(void** memory, std::size_t bytes) {
  constexpr std::size_t kGranule = std::size_t{2} << 20;
  if (memory == nullptr || bytes == 0)
    return Fail(ncclInvalidArgument, "there is nothing to allocate");
  CUdeviceptr begin = 0;
  if (EnsureThreadContext() != CUDA_SUCCESS ||
      cuMemAlloc(&begin, memtrace::RoundUp(bytes, kGranule)) != CUDA_SUCCESS)
    return Fail(ncclUnhandledCudaError, "out of memory");
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
  *memory = reinterpret_cast<void*>(begin);
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void* memory) {
  if (memory == nullptr) return ncclSuccess;
  const CUresult result = EnsureThreadContext();
  return result == CUDA_SUCCESS && cuMemFree(reinterpret_cast<CUdeviceptr>(memory)) == CUDA_SUCCESS
             ? ncclSuccess
             : ncclUnhandledCudaError;
}

ncclResult_t ncclGroupStart() {
  StartGroup();
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() { return EndGroup(); }
