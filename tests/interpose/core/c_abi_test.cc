// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The allocator through libmemtrace.so on a simulated card, without torch.
#include <gmock/gmock.h>

#include <map>
#include <utility>
#include <vector>

#include "interpose/simulated_card/interface/card_control.h"
#include "tests/interpose/core/card_process.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class CAbiTest : public CardProcessTest {};

TEST_F(CAbiTest, CallsBeforeTheStartReturnNotStarted) {
  EXPECT_TRUE(InOwnProcess([] {
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate(0, 512, 0, 0, &address, nullptr), MEMTRACE_NOT_STARTED);
    EXPECT_THAT(memtrace_last_error(), HasSubstr("not been started"));
    EXPECT_EQ(memtrace_set_limit(0, 1), MEMTRACE_NOT_STARTED);
    EXPECT_STREQ(memtrace_trace_path(), "");
    EXPECT_EQ(memtrace_capture_context(), 0u);
    EXPECT_EQ(memtrace_empty_cache(), MEMTRACE_OK);
    memtrace_close();
  }));
  EXPECT_THAT(Files(), ElementsAre());
}

TEST_F(CAbiTest, MemoryIsAllocatedCountedAndFreed) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    EXPECT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    void* block = Allocate(5_MiB + 1);
    EXPECT_EQ(Current(MEMTRACE_REQUESTED_BYTES), static_cast<int64_t>(5_MiB + 1));
    EXPECT_EQ(Current(MEMTRACE_ALLOCATED_BYTES), static_cast<int64_t>(5_MiB + 512));
    EXPECT_EQ(memtrace_record_stream(block, 0), MEMTRACE_OK);
    EXPECT_EQ(memtrace_deallocate(block), MEMTRACE_OK);
    EXPECT_EQ(Current(MEMTRACE_RESERVED_BYTES), static_cast<int64_t>(6_MiB));
    EXPECT_EQ(memtrace_empty_cache(), MEMTRACE_OK);
    EXPECT_EQ(Current(MEMTRACE_RESERVED_BYTES), 0);
  }));
}

TEST_F(CAbiTest, InvalidArgumentsAreRejectedWithAMessage) {
  EXPECT_TRUE(InOwnProcess([] {
    EXPECT_EQ(memtrace_start(-1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_EQ(memtrace_start(1, 7), MEMTRACE_INVALID_ARGUMENT);
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate(0, 0, 0, 0, &address, nullptr), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_EQ(memtrace_allocate(0, 512, 0, 0, nullptr, nullptr), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_EQ(memtrace_allocate(1, 512, 0, 0, &address, nullptr), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_STREQ(memtrace_last_error(), "memtrace's allocator serves no card 1");
    EXPECT_EQ(memtrace_allocate(-1, 512, 0, 0, &address, nullptr), MEMTRACE_INVALID_ARGUMENT);
    int mine = 0;
    EXPECT_EQ(memtrace_deallocate(&mine), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_EQ(memtrace_record_stream(&mine, 0), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_EQ(memtrace_base_allocation(&mine, nullptr, nullptr), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_EQ(memtrace_get_statistics(0, nullptr), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_EQ(memtrace_visit_segments(0, nullptr, nullptr), MEMTRACE_INVALID_ARGUMENT);
    memtrace_set_info(nullptr, "x");
    memtrace_annotate("x", nullptr);
    memtrace_observe(nullptr);
    memtrace_observe_out_of_memory(nullptr);
    EXPECT_EQ(memtrace_intern(nullptr), 0u);
  }));
}

TEST_F(CAbiTest, RequestBeyondAnyCardIsOutOfMemory) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    void* address = nullptr;
    for (const uint64_t bytes : {uint64_t{1} << 62, ~uint64_t{0}, ~uint64_t{0} - 511}) {
      EXPECT_EQ(memtrace_allocate(0, bytes, 0, 0, &address, nullptr), MEMTRACE_OUT_OF_MEMORY);
    }
  }));
}

TEST_F(CAbiTest, FailedDriverCallIsNamedWithItsResult) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    ASSERT_EQ(memtrace_card_plan_failures("cuMemMap@1=1", nullptr, 0), MEMTRACE_CARD_OK);
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate(0, 1_MiB, 0, 0, &address, nullptr), MEMTRACE_INTERNAL);
    EXPECT_EQ(memtrace_last_driver_result(), 1);
    EXPECT_STREQ(memtrace_last_error(), "invalid argument (cuMemMap: CUDA_ERROR_INVALID_VALUE)");
    EXPECT_EQ(memtrace_deallocate(address), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_EQ(memtrace_last_driver_result(), 0);
    Allocate(1_MiB);
  }));
}

TEST_F(CAbiTest, TakeFreeReusesMemoryWithoutTheDriver) {
  EXPECT_TRUE(InOwnProcess([] {
    EXPECT_EQ(memtrace_take_free(0, 512, 512, 0, 0), nullptr);
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    EXPECT_EQ(memtrace_take_free(0, 1_MiB, 1_MiB, 0, 0), nullptr);
    EXPECT_EQ(Current(MEMTRACE_RESERVED_BYTES), 0);
    EXPECT_EQ(memtrace_deallocate(Allocate(1_MiB)), MEMTRACE_OK);
    void* block = memtrace_take_free(0, 512, 1_MiB, 0, 0);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(Current(MEMTRACE_REQUESTED_BYTES), 512);
    EXPECT_EQ(Current(MEMTRACE_ALLOCATED_BYTES), static_cast<int64_t>(1_MiB));
    EXPECT_EQ(memtrace_take_free(0, 512, 512, /*stream=*/7, 0), nullptr);
    EXPECT_EQ(memtrace_take_free(1, 512, 512, 0, 0), nullptr);
    EXPECT_EQ(memtrace_take_free(-1, 512, 512, 0, 0), nullptr);
    EXPECT_EQ(memtrace_take_free(0, 0, 512, 0, 0), nullptr);
    EXPECT_EQ(memtrace_deallocate(block), MEMTRACE_OK);
  }));
}

TEST_F(CAbiTest, RejectedRequestIsNotRecorded) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    Allocate(100_MiB);
    memtrace_request request{};
    request.size = sizeof(request);
    request.bytes = 50_MiB;
    request.reject_above = 149_MiB;
    memtrace_out_of_memory rejection{};
    rejection.size = sizeof(rejection);
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate_request(&request, &address, &rejection), MEMTRACE_OUT_OF_MEMORY);
    EXPECT_EQ(rejection.is_rejected, 1);
    EXPECT_EQ(rejection.reserved, 100_MiB);
    request.reject_above = 150_MiB;
    EXPECT_EQ(memtrace_allocate_request(&request, &address, &rejection), MEMTRACE_OK);
  }));
  EXPECT_TRUE(EventsOf<trace::OutOfMemory>(Trace()).empty());
}

// Follows the order in which the shim for torch serves a request without free memory: only_free,
// then the program's callbacks, which may free something, then the request that may ask the driver.
TEST_F(CAbiTest, MemoryFreedAfterAMissServesTheNextRequest) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    void* block = Allocate(4_MiB);
    memtrace_request request{};
    request.size = sizeof(request);
    request.bytes = 4_MiB;
    request.is_not_free = 1;
    request.only_free = 1;
    void* address = nullptr;
    ASSERT_EQ(memtrace_card_log_calls(1), MEMTRACE_CARD_OK);
    EXPECT_EQ(memtrace_allocate_request(&request, &address, nullptr), MEMTRACE_OUT_OF_MEMORY);
    EXPECT_EQ(address, nullptr);
    EXPECT_EQ(memtrace_deallocate(block), MEMTRACE_OK);
    request.only_free = 0;
    EXPECT_EQ(memtrace_allocate_request(&request, &address, nullptr), MEMTRACE_OK);
    EXPECT_EQ(address, block);
    ASSERT_EQ(memtrace_card_log_calls(0), MEMTRACE_CARD_OK);
    const auto fail = [](void*, const char* call, uint64_t) { ADD_FAILURE() << call; };
    memtrace_card_visit_calls(fail, nullptr);
  }));
  EXPECT_TRUE(EventsOf<trace::OutOfMemory>(Trace()).empty());
}

TEST_F(CAbiTest, BaseAllocationIsFoundFromAnInnerAddress) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    void* block = Allocate(3_MiB);
    void* base = nullptr;
    uint64_t bytes = 0;
    EXPECT_EQ(memtrace_base_allocation(static_cast<char*>(block) + 1_MiB, &base, &bytes),
              MEMTRACE_OK);
    EXPECT_EQ(base, block);
    EXPECT_EQ(bytes, 3_MiB);
    EXPECT_EQ(memtrace_deallocate(block), MEMTRACE_OK);
    EXPECT_EQ(memtrace_deallocate(block), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_THAT(memtrace_last_error(), HasSubstr("freed twice?"));
  }));
}

TEST_F(CAbiTest, BlocksTileTheVisitedSegments) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    void* kept = Allocate(3_MiB);
    static_cast<void>(memtrace_deallocate(Allocate(9_MiB)));
    Allocate(100);
    std::map<uint64_t, uint64_t> allocated;
    const auto visit = [](void* user, const memtrace_segment* segment) {
      uint64_t end = segment->address;
      for (uint64_t i = 0; i < segment->block_count; ++i) {
        const memtrace_block& block = segment->blocks[i];
        EXPECT_EQ(block.address, end);
        end += block.bytes;
        if (block.state == MEMTRACE_BLOCK_ALLOCATED)
          (*static_cast<std::map<uint64_t, uint64_t>*>(user))[block.address] = block.requested;
      }
      EXPECT_EQ(end, segment->address + segment->bytes);
    };
    EXPECT_EQ(memtrace_visit_segments(0, visit, &allocated), MEMTRACE_OK);
    EXPECT_EQ(allocated.size(), 2u);
    EXPECT_EQ(allocated[reinterpret_cast<uint64_t>(kept)], 3_MiB);
  }));
}

TEST_F(CAbiTest, ChangesAreReportedInOrder) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    static_cast<void>(Allocate(3_MiB));
    std::vector<memtrace_change> changes;
    const auto watch = [](void* user, const memtrace_change* change) {
      static_cast<std::vector<memtrace_change>*>(user)->push_back(*change);
    };
    EXPECT_EQ(memtrace_watch(nullptr, nullptr), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_EQ(memtrace_watch(watch, &changes), MEMTRACE_OK);
    EXPECT_EQ(memtrace_watch(watch, &changes), MEMTRACE_INVALID_ARGUMENT);
    void* block = Allocate(5_MiB + 1);
    EXPECT_EQ(memtrace_deallocate(block), MEMTRACE_OK);
    EXPECT_EQ(memtrace_empty_cache(), MEMTRACE_OK);
    std::vector<std::pair<int, uint64_t>> seen;
    seen.reserve(changes.size());
    for (const auto& change : changes) seen.emplace_back(change.kind, change.bytes);
    EXPECT_THAT(seen, ElementsAre(Pair(MEMTRACE_CHANGE_MAPPED, 6_MiB),
                                  Pair(MEMTRACE_CHANGE_ALLOCATED, 5_MiB + 1),
                                  Pair(MEMTRACE_CHANGE_FREE_REQUESTED, 5_MiB + 1),
                                  Pair(MEMTRACE_CHANGE_FREE_COMPLETED, 5_MiB + 1),
                                  Pair(MEMTRACE_CHANGE_UNMAPPED, testing::_)));
    EXPECT_EQ(changes[1].address, reinterpret_cast<uint64_t>(block));
  }));
}

TEST_F(CAbiTest, PoolsHaveTheirOwnMemoryUsersAndCheckpoints) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    constexpr memtrace_pool kPool{0, 7};
    int uses = 0;
    EXPECT_EQ(memtrace_pool_uses(0, &kPool, &uses), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_STREQ(memtrace_last_error(), "there is no pool (0, 7)");
    EXPECT_EQ(memtrace_retain_pool(0, &kPool), MEMTRACE_OK);
    EXPECT_EQ(memtrace_pool_uses(0, &kPool, &uses), MEMTRACE_OK);
    EXPECT_EQ(uses, 1);

    static int dropped;
    memtrace_stream_filter filter{};
    filter.size = sizeof(filter);
    EXPECT_EQ(memtrace_begin_routing(0, &kPool, &filter), MEMTRACE_INVALID_ARGUMENT);
    filter.takes = [](void*, uint64_t stream) { return stream == 0 ? 1 : 0; };
    filter.drop = [](void*) { ++dropped; };
    EXPECT_EQ(memtrace_begin_routing(0, &kPool, &filter), MEMTRACE_OK);
    EXPECT_EQ(memtrace_begin_routing(0, &kPool, &filter), MEMTRACE_INVALID_ARGUMENT);
    EXPECT_EQ(dropped, 1);
    void* block = Allocate(3_MiB);
    EXPECT_EQ(memtrace_end_routing(0, &kPool), MEMTRACE_OK);
    EXPECT_EQ(dropped, 2);
    std::map<uint64_t, uint64_t> pools;
    const auto visit = [](void* user, const memtrace_segment* segment) {
      (*static_cast<std::map<uint64_t, uint64_t>*>(user))[segment->address] = segment->pool.second;
    };
    EXPECT_EQ(memtrace_visit_segments(0, visit, &pools), MEMTRACE_OK);
    EXPECT_EQ(pools[reinterpret_cast<uint64_t>(block)], 7u);

    memtrace_checkpoint* checkpoint = nullptr;
    EXPECT_EQ(memtrace_checkpoint_pool(0, &kPool, &checkpoint), MEMTRACE_OK);
    EXPECT_EQ(memtrace_deallocate(block), MEMTRACE_OK);
    std::vector<void*> again;
    const auto restored = [](void* user, void* address, int is_allocated) {
      if (is_allocated != 0) static_cast<std::vector<void*>*>(user)->push_back(address);
    };
    EXPECT_EQ(memtrace_restore_pool(0, checkpoint, restored, &again), MEMTRACE_OK);
    EXPECT_THAT(again, ElementsAre(block));
    memtrace_drop_checkpoint(checkpoint);
    EXPECT_EQ(memtrace_release_pool(0, &kPool), MEMTRACE_OK);
    EXPECT_EQ(memtrace_deallocate(block), MEMTRACE_OK);
    EXPECT_EQ(memtrace_empty_pool(&kPool), MEMTRACE_OK);
    EXPECT_EQ(Current(MEMTRACE_RESERVED_BYTES), 0);
  }));
}

TEST_F(CAbiTest, PeaksAndSumsAreReset) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    static_cast<void>(memtrace_deallocate(Allocate(4_MiB)));
    EXPECT_EQ(memtrace_reset_peak_statistics(0), MEMTRACE_OK);
    EXPECT_EQ(memtrace_reset_accumulated_statistics(0), MEMTRACE_OK);
    memtrace_statistics now{};
    now.size = sizeof(now);
    EXPECT_EQ(memtrace_get_statistics(0, &now), MEMTRACE_OK);
    EXPECT_EQ(now.by_kind[MEMTRACE_REQUESTED_BYTES][0].peak, 0);
    EXPECT_EQ(now.by_kind[MEMTRACE_REQUESTED_BYTES][0].allocated, 0);
  }));
}

TEST_F(CAbiTest, StructsOfOlderCallersAreFilledUpToTheirSize) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    memtrace_out_of_memory failure{};
    failure.size = offsetof(memtrace_out_of_memory, limit);
    failure.limit = 42;
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate(0, 2_GiB, 0, 0, &address, &failure), MEMTRACE_OUT_OF_MEMORY);
    EXPECT_EQ(failure.requested, 2_GiB);
    EXPECT_EQ(failure.limit, 42u);
    EXPECT_EQ(failure.explanation[0], '\0');
    memtrace_statistics statistics{};
    statistics.size = offsetof(memtrace_statistics, num_ooms);
    EXPECT_EQ(memtrace_get_statistics(0, &statistics), MEMTRACE_OK);
    EXPECT_EQ(statistics.num_ooms, 0);
    statistics.size = 0;
    EXPECT_EQ(memtrace_get_statistics(0, &statistics), MEMTRACE_INVALID_ARGUMENT);
  }));
}

TEST_F(CAbiTest, LimitFailsRequestsThatTheCardCouldHold) {
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    ASSERT_EQ(memtrace_set_limit(0, 100_MiB), MEMTRACE_OK);
    memtrace_out_of_memory failure{};
    failure.size = sizeof(failure);
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate(0, 200_MiB, 0, 0, &address, &failure), MEMTRACE_OUT_OF_MEMORY);
    EXPECT_EQ(failure.limit, 100_MiB);
    EXPECT_THAT(failure.explanation,
                HasSubstr("The limit set for this process (100.00 MiB) is reached"));
    EXPECT_EQ(memtrace_set_limit(0, ~uint64_t{0}), MEMTRACE_OK);
    Allocate(200_MiB);
  }));
}

TEST_F(CAbiTest, OutOfMemoryIsExplainedAndItsLedgerAddsUp) {
  UseCard("1GiB,context=100MiB,other=24MiB");
  EXPECT_TRUE(InOwnProcess([] {
    ASSERT_EQ(memtrace_start(1, MEMTRACE_MODE_ALLOCATE), MEMTRACE_OK);
    memtrace_push_tag(memtrace_intern("policy"));
    Allocate(600_MiB);
    memtrace_out_of_memory failure{};
    failure.size = sizeof(failure);
    void* address = nullptr;
    EXPECT_EQ(memtrace_allocate(0, 400_MiB, 0, memtrace_capture_context(), &address, &failure),
              MEMTRACE_OUT_OF_MEMORY);
    EXPECT_EQ(address, nullptr);
    EXPECT_EQ(failure.obtainable, 300_MiB);
    EXPECT_EQ(failure.device_total, 1_GiB);
    EXPECT_THAT(failure.explanation, HasSubstr("The request for 400.00 MiB failed; at most 300.00 "
                                               "MiB was available (100.00 MiB short)."));
    EXPECT_THAT(failure.explanation, HasSubstr("policy 600.00 MiB"));
    EXPECT_THAT(failure.explanation, HasSubstr("memtrace report"));
  }));
  const auto reader = Trace();
  const auto failures = EventsOf<trace::OutOfMemory>(reader);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(reader.String(failures[0].owner), "policy");
  ASSERT_EQ(failures[0].cards.size(), 1u);
  const trace::CardLedger& card = failures[0].cards[0];
  EXPECT_EQ(card.context, 100_MiB);
  EXPECT_EQ(card.other_processes, 24_MiB);
  EXPECT_EQ(card.live_requested, 600_MiB);
  EXPECT_EQ(card.total, card.context + card.other_processes + card.outside_allocator +
                            card.live_allocated + card.stream_wait + card.cached + card.holes +
                            card.free);
}

}  // namespace
}  // namespace memtrace
