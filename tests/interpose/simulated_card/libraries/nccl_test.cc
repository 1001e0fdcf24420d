// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// NCCL on two cards (MEMTRACE_CARD as ctest sets it), one thread a rank or one for both.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <array>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "interpose/simulated_card/interface/card_ranges.h"
#include "tests/interpose/simulated_card/libraries/nccl_buffer.h"

namespace {

using memtrace::card::Buffer;
using memtrace::card::Values;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Runs body(rank, communicator) in one thread for each rank.
void OnEachRank(const std::function<void(int, ncclComm_t)>& body) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  const auto run = [&](int rank) {
    ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
    ncclComm_t comm = nullptr;
    ASSERT_EQ(ncclCommInitRank(&comm, 2, id, rank), ncclSuccess) << ncclGetLastError(nullptr);
    body(rank, comm);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

TEST(NcclTest, ValuesOfAllRanksAreReduced) {
  OnEachRank([](int rank, ncclComm_t comm) {
    const Buffer from({1 + rank, 10});
    const Buffer to({0, 0});
    EXPECT_EQ(ncclAllReduce(from.get(), to.get(), 2, ncclInt64, ncclSum, comm, nullptr),
              ncclSuccess);
    EXPECT_THAT(to.Read(), ElementsAre(3, 20));
    EXPECT_EQ(to.Known(), MEMTRACE_CARD_KNOWN);
    EXPECT_EQ(ncclReduceScatter(from.get(), to.get(), 1, ncclInt64, ncclMax, comm, nullptr),
              ncclSuccess);
    EXPECT_THAT(to.Read(), ElementsAre(rank == 0 ? 2 : 10, 20));
    EXPECT_EQ(ncclReduce(from.get(), to.get(), 1, ncclInt64, ncclProd, 1, comm, nullptr),
              ncclSuccess);
    EXPECT_EQ(to.Read()[0], 2) << "rank 0 keeps its 2, rank 1 has 1 * 2";
  });
}

TEST(NcclTest, EachCollectiveDeliversItsValues) {
  OnEachRank([](int rank, ncclComm_t comm) {
    const std::int64_t ten = rank == 0 ? 0 : 10;
    const Buffer from({ten, ten + 1});
    const Buffer to({-1, -1, -1, -1});
    EXPECT_EQ(ncclAllGather(from.get(), to.get(), 2, ncclInt64, comm, nullptr), ncclSuccess);
    EXPECT_THAT(to.Read(), ElementsAre(0, 1, 10, 11));
    EXPECT_EQ(ncclAlltoAll(from.get(), to.get(), 1, ncclInt64, comm, nullptr), ncclSuccess);
    EXPECT_THAT(to.Read(), ElementsAre(rank, 10 + rank, 10, 11));
    EXPECT_EQ(ncclBroadcast(from.get(), to.get(), 2, ncclInt64, 1, comm, nullptr), ncclSuccess);
    EXPECT_THAT(to.Read(), ElementsAre(10, 11, 10, 11));
    EXPECT_EQ(ncclScatter(from.get(), to.get(), 1, ncclInt64, 0, comm, nullptr), ncclSuccess);
    EXPECT_EQ(to.Read()[0], rank);
    EXPECT_EQ(ncclGather(from.get(), to.get(), 2, ncclInt64, 0, comm, nullptr), ncclSuccess);
    if (rank == 0) {
      EXPECT_THAT(to.Read(), ElementsAre(0, 1, 10, 11));
    }
  });
}

TEST(NcclTest, GroupedSendsAndReceivesNeedNoOrder) {
  OnEachRank([](int rank, ncclComm_t comm) {
    const Buffer from({rank + 5});
    const Buffer to({0});
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclRecv(to.get(), 1, ncclInt64, 1 - rank, comm, nullptr), ncclSuccess);
    EXPECT_EQ(ncclSend(from.get(), 1, ncclInt64, 1 - rank, comm, nullptr), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_THAT(to.Read(), ElementsAre(6 - rank));
  });
}

// Both ranks are of this process, whose bytes are counted.
TEST(NcclTest, BytesSentAreCountedByTheFactorsOfRings) {
  const struct memtrace_card_activity before = memtrace::card::Activity();
  OnEachRank([](int rank, ncclComm_t comm) {
    const Buffer from(Values(8, 1));
    const Buffer to(Values(16, 0));
    EXPECT_EQ(ncclAllReduce(from.get(), to.get(), 8, ncclInt64, ncclSum, comm, nullptr),
              ncclSuccess);
    EXPECT_EQ(ncclAllGather(from.get(), to.get(), 8, ncclInt64, comm, nullptr), ncclSuccess);
    EXPECT_EQ(ncclReduceScatter(from.get(), to.get(), 4, ncclInt64, ncclSum, comm, nullptr),
              ncclSuccess);
    EXPECT_EQ(ncclAlltoAll(from.get(), to.get(), 4, ncclInt64, comm, nullptr), ncclSuccess);
    EXPECT_EQ(ncclBroadcast(from.get(), to.get(), 8, ncclInt64, 1, comm, nullptr), ncclSuccess);
    const ncclResult_t passed = rank == 0 ? ncclSend(from.get(), 5, ncclInt64, 1, comm, nullptr)
                                          : ncclRecv(to.get(), 5, ncclInt64, 0, comm, nullptr);
    EXPECT_EQ(passed, ncclSuccess);
  });
  const struct memtrace_card_activity after = memtrace::card::Activity();
  EXPECT_EQ(after.sent_bytes - before.sent_bytes, 2 * (64 + 64 + 32 + 32) + 64 + 40u);
  EXPECT_EQ(after.sent_bytes_network, before.sent_bytes_network);
  EXPECT_EQ(after.sends - before.sends, 1u);
}

TEST(NcclTest, CollectiveBeforeTheEndOfItsCommunicatorsGroupIsRefused) {
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  const Buffer buffer({1});
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  ASSERT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(buffer.get(), buffer.get(), 1, ncclInt64, ncclSum, comm, nullptr),
            ncclInvalidUsage);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(buffer.get(), buffer.get(), 1, ncclInt64, ncclSum, comm, nullptr),
            ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NcclTest, LargeValuesAreNotTransferred) {
  OnEachRank([](int, ncclComm_t comm) {
    const Buffer large(Values((1 << 17) + 1, 7));
    EXPECT_EQ(large.Known(), MEMTRACE_CARD_KNOWN);
    EXPECT_EQ(
        ncclAllReduce(large.get(), large.get(), (1 << 17) + 1, ncclInt64, ncclSum, comm, nullptr),
        ncclSuccess);
    EXPECT_NE(large.Known(), MEMTRACE_CARD_KNOWN);
  });
}

TEST(NcclTest, MismatchedCallsOfRanksAreReported) {
  OnEachRank([](int rank, ncclComm_t comm) {
    const Buffer buffer({1, 2});
    const std::size_t count = rank == 0 ? 1 : 2;
    EXPECT_EQ(ncclAllReduce(buffer.get(), buffer.get(), count, ncclInt64, ncclSum, comm, nullptr),
              ncclInvalidUsage);
    EXPECT_THAT(ncclGetLastError(comm), HasSubstr("ncclAllReduce of 8 bytes"));
    EXPECT_THAT(ncclGetLastError(comm), HasSubstr("ncclAllReduce of 16 bytes"));
  });
}

TEST(NcclTest, EndedRankIsARemoteError) {
  OnEachRank([](int rank, ncclComm_t comm) {
    if (rank == 1) return;
    const Buffer buffer({1});
    EXPECT_EQ(ncclAllReduce(buffer.get(), buffer.get(), 1, ncclInt64, ncclSum, comm, nullptr),
              ncclRemoteError);
    ncclResult_t error = ncclSuccess;
    EXPECT_EQ(ncclCommGetAsyncError(comm, &error), ncclSuccess);
    EXPECT_EQ(error, ncclRemoteError);
  });
}

TEST(NcclTest, SplitMakesOneCommunicatorPerColor) {
  OnEachRank([](int rank, ncclComm_t comm) {
    ncclComm_t both = nullptr;
    ASSERT_EQ(ncclCommSplit(comm, 3, -rank, &both, nullptr), ncclSuccess);
    int new_rank = -1;
    EXPECT_EQ(ncclCommUserRank(both, &new_rank), ncclSuccess);
    EXPECT_EQ(new_rank, 1 - rank) << "ordered by key";
    ncclComm_t alone = nullptr;
    ASSERT_EQ(ncclCommSplit(comm, rank == 0 ? 0 : NCCL_SPLIT_NOCOLOR, 0, &alone, nullptr),
              ncclSuccess);
    EXPECT_EQ(alone == nullptr, rank == 1);
    if (alone != nullptr) {
      EXPECT_EQ(ncclCommDestroy(alone), ncclSuccess);
    }
    EXPECT_EQ(ncclCommDestroy(both), ncclSuccess);
  });
}

// Uses the ranks as torch.nn.DataParallel does.
TEST(NcclTest, OneThreadCanDriveAllRanks) {
  std::array<ncclComm_t, 2> comms = {};
  ASSERT_EQ(ncclCommInitAll(comms.data(), 2, nullptr), ncclSuccess);
  std::vector<std::unique_ptr<Buffer>> buffers;
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 2; ++rank) {
    ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
    buffers.push_back(std::make_unique<Buffer>(Values{rank + 1}));
    void* memory = buffers.back()->get();
    const auto at = static_cast<std::size_t>(rank);
    EXPECT_EQ(ncclAllReduce(memory, memory, 1, ncclInt64, ncclSum, comms[at], nullptr),
              ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << ncclGetLastError(nullptr);
  for (const auto& buffer : buffers) EXPECT_THAT(buffer->Read(), ElementsAre(3));
  for (ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NcclTest, SingleRankReceivesItsOwnValues) {
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ASSERT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclSuccess);
  const Values many((1 << 17) + 1, 7);
  const Buffer from(many);
  const Buffer to(Values(many.size(), 0));
  EXPECT_EQ(ncclAllReduce(from.get(), to.get(), many.size(), ncclInt64, ncclSum, comm, nullptr),
            ncclSuccess);
  EXPECT_EQ(to.Read(), many);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NcclTest, CapturedCollectiveIsANodeAndMovesNothing) {
  OnEachRank([](int, ncclComm_t comm) {
    const Buffer buffer({4});
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    std::size_t nodes = 0;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(ncclAllReduce(buffer.get(), buffer.get(), 1, ncclInt64, ncclSum, comm, stream),
              ncclSuccess);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
    EXPECT_EQ(nodes, 1u);
    EXPECT_THAT(buffer.Read(), ElementsAre(4));
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  });
}

TEST(NcclTest, InvalidArgumentsAreRejected) {
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ncclUniqueId id = {};
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 0), ncclSystemError) << "nobody made that id";
  EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("one machine"));
  EXPECT_EQ(ncclCommDestroy(reinterpret_cast<ncclComm_t>(&id)), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ASSERT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclSuccess);
  EXPECT_EQ(ncclBroadcast(nullptr, nullptr, 1, ncclInt8, 0, comm, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclBroadcast(&id, &id, 1, ncclInt8, 7, comm, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclBroadcast(&id, &id, 1, ncclNumTypes, 0, comm, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

}  // namespace
