// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/host_refusals.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "tests/interpose/simulated_card/memory/card_sizes.h"

namespace memtrace::card {
namespace {

// Limits the size of this process's files while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit lowered = {.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &lowered);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_ = {};
};

TEST(HostRefusalsTest, MessageStatesWhatWhyAndWhatToDo) {
  EXPECT_EQ(HostRefusal(HostNeed::kPinnedMemory, 4096, ENOMEM),
            "the host refuses 4096 bytes for pinned or managed memory (Cannot allocate memory): "
            "the call fails as out of memory, because of the host and not the card; raise the "
            "limit on addresses (ulimit -v), or let the host overcommit (vm.overcommit_memory)");
  EXPECT_EQ(HostRefusal(HostNeed::kContents, 4096, EFBIG),
            "the host refuses 4096 bytes for contents of the simulated card (File too large): what "
            "is copied there is dropped, while sizes and addresses stay exact; raise the limit on "
            "file size (ulimit -f unlimited)");
}

TEST(HostRefusalsTest, FailedPinnedAllocationLeavesNothing) {
  Machine machine({{.bytes = 8_GiB}}, 64_MiB);
  constexpr std::uint64_t kMoreThanAnAddressSpace = 1ull << 50;
  void* begin = nullptr;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(machine.host_memory.Allocate(kMoreThanAnAddressSpace, 0, &begin),
              Result::kOutOfMemory);
  }
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "memtrace: " + HostRefusal(HostNeed::kPinnedMemory, kMoreThanAnAddressSpace, ENOMEM) + "\n");
  EXPECT_EQ(begin, nullptr);
  EXPECT_EQ(machine.host_memory.Live(), 0u);
}

TEST(HostRefusalsTest, ContentsTheHostCannotStoreAreDroppedWithAMessage) {
  Machine machine({{.bytes = 8_GiB}}, 64_MiB);
  Address begin;
  ASSERT_EQ(machine.heap.Allocate(0, 2_MiB, &begin), Result::kSuccess);
  const std::vector<std::byte> bytes(4096, std::byte{7});
  {
    const FileSizeLimit limit(1_MiB);
    testing::internal::CaptureStderr();
    EXPECT_EQ(machine.copies.Copy(begin, Address{reinterpret_cast<std::uintptr_t>(bytes.data())},
                                  bytes.size()),
              Result::kSuccess);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, "memtrace: " + HostRefusal(HostNeed::kContents, bytes.size(), EFBIG) + "\n");
  EXPECT_EQ(machine.copies.Counts().dropped, 1u);
  EXPECT_EQ(machine.CardAt(0).CurrentLedger().runtime, 2_MiB);
}

}  // namespace
}  // namespace memtrace::card
