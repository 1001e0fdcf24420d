// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// NCCL: collectives, send and receive. What each rank hands over and takes is nccl.h's.
#include <atomic>
#include <utility>

#include "interpose/simulated_card/collectives/communicators.h"
#include "interpose/simulated_card/collectives/nccl_header.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// The next number of an operation made by a program; such operations are not computed.
std::atomic<int> next_operation = ncclNumOps;

DeviceRange Range(const void* begin, std::uint64_t bytes) {
  return {reinterpret_cast<std::uintptr_t>(begin), bytes};
}

// Arguments that the calls below share: the communicator's handle, the type and the peer or root.
struct Common {
  ncclComm_t handle = nullptr;
  ncclDataType_t type = ncclNumTypes;
  int root = 0;
};

// Runs call(rank's communicator), which fills in the specific part, and makes that call.
template <typename Fill>
ncclResult_t With(const Common& common, cudaStream_t stream, Fill fill,
                  const char* name = __builtin_FUNCTION()) {
  const CommunicatorPointer communicator = Find(common.handle);
  if (communicator == nullptr) return Fail(ncclInvalidArgument, "the communicator is invalid");
  if (SizeOf(common.type) == 0) return Fail(ncclInvalidArgument, "the data type is invalid");
  if (common.root < 0 || common.root >= communicator->size)
    return Fail(ncclInvalidArgument, "the root or peer is not one of the ranks");
  if (communicator->memory == nullptr)
    return Fail(ncclInvalidUsage, "the communicator is not ready: its group has not ended");
  CollectiveCall call = {
      .name = name, .communicator = communicator, .stream = stream, .peer = common.root};
  fill(call, *communicator);
  const bool has_memory = (call.given.bytes == 0 || call.given.begin != 0) &&
                          (call.taken.bytes == 0 || call.taken.begin != 0);
  if (!has_memory) return Fail(ncclInvalidArgument, "a buffer is null");
  return Call(std::move(call));
}

}  // namespace
}  // namespace memtrace::card

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  return With({comm, type}, stream, [&](CollectiveCall& call, const Communicator&) {
    call.size = count * SizeOf(type);
    call.given = Range(from, call.size);
    call.taken = Range(to, call.size);
    call.copies_alone = operation < ncclNumOps;
    call.result = [=](const Parts& parts) { return Reduce(parts, type, operation); };
  });
}

ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream) {
  return With({comm, type, root}, stream, [&](CollectiveCall& call, const Communicator& ours) {
    call.size = count * SizeOf(type);
    call.given = Range(from, call.size);
    if (ours.rank == root) call.taken = Range(to, call.size);
    call.copies_alone = operation < ncclNumOps;
    call.result = [=](const Parts& parts) { return Reduce(parts, type, operation); };
  });
}

ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  return With({comm, type, root}, stream, [&](CollectiveCall& call, const Communicator& ours) {
    call.size = count * SizeOf(type);
    call.root = root;
    if (ours.rank == root) call.given = Range(from, call.size);
    // If the root works in place, its bytes stay; a copy of data too large to pass on is unknown.
    if (ours.rank != root || from != to) call.taken = Range(to, call.size);
    call.result = [=](const Parts& parts) { return parts[static_cast<std::size_t>(root)]; };
  });
}

ncclResult_t ncclBcast(void* buffer, std::size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  return With({comm, type}, stream, [&](CollectiveCall& call, const Communicator& ours) {
    const auto rank = static_cast<std::size_t>(ours.rank);
    const auto size = static_cast<std::size_t>(ours.size);
    call.size = count * SizeOf(type);
    call.given = Range(from, call.size * size);
    call.taken = Range(to, call.size);
    call.copies_alone = operation < ncclNumOps;
    call.result = [=](const Parts& parts) {
      return Piece(Reduce(parts, type, operation), rank, size);
    };
  });
}

ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return With({comm, type}, stream, [&](CollectiveCall& call, const Communicator& ours) {
    call.size = count * SizeOf(type);
    call.given = Range(from, call.size);
    call.taken = Range(to, call.size * static_cast<std::size_t>(ours.size));
    call.result = Join;
  });
}

ncclResult_t ncclAlltoAll(const void* from, void* to, std::size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream) {
  return With({comm, type}, stream, [&](CollectiveCall& call, const Communicator& ours) {
    const auto rank = static_cast<std::size_t>(ours.rank);
    const auto size = static_cast<std::size_t>(ours.size);
    call.size = count * SizeOf(type);
    call.given = Range(from, call.size * size);
    call.taken = Range(to, call.size * size);
    call.result = [=](const Parts& parts) {
      Parts pieces;
      for (const Part& part : parts) pieces.push_back(Piece(part, rank, size));
      return Join(pieces);
    };
  });
}

ncclResult_t ncclGather(const void* from, void* to, std::size_t count, ncclDataType_t type,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return With({comm, type, root}, stream, [&](CollectiveCall& call, const Communicator& ours) {
    call.size = count * SizeOf(type);
    call.given = Range(from, call.size);
    if (ours.rank == root) call.taken = Range(to, call.size * static_cast<std::size_t>(ours.size));
    call.result = Join;
  });
}

ncclResult_t ncclScatter(const void* from, void* to, std::size_t count, ncclDataType_t type,
                         int root, ncclComm_t comm, cudaStream_t stream) {
  return With({comm, type, root}, stream, [&](CollectiveCall& call, const Communicator& ours) {
    const auto rank = static_cast<std::size_t>(ours.rank);
    const auto size = static_cast<std::size_t>(ours.size);
    call.size = count * SizeOf(type);
    call.root = root;
    if (ours.rank == root) call.given = Range(from, call.size * size);
    call.taken = Range(to, call.size);
    call.result = [=](const Parts& parts) {
      return Piece(parts[static_cast<std::size_t>(root)], rank, size);
    };
  });
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return With({comm, type, peer}, stream, [&](CollectiveCall& call, const Communicator&) {
    call.kind = CollectiveCall::kSend;
    call.size = count * SizeOf(type);
    call.given = Range(from, call.size);
  });
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return With({comm, type, peer}, stream, [&](CollectiveCall& call, const Communicator&) {
    call.kind = CollectiveCall::kReceive;
    call.size = count * SizeOf(type);
    call.taken = Range(to, call.size);
    call.result = [](const Parts& parts) { return parts.front(); };
  });
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* operation, void* scalar, ncclDataType_t,
                                      ncclScalarResidence_t, ncclComm_t) {
  if (operation == nullptr || scalar == nullptr)
    return Fail(ncclInvalidArgument, "the pointer to the operation or the factor is null");
  *operation = static_cast<ncclRedOp_t>(next_operation++);
  return ncclSuccess;
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t, ncclComm_t) { return ncclSuccess; }
