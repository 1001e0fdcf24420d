// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares torch's rules with the decisions of torch's own allocator in other people's programs:
// snapshots in MEMTRACE_CORPUS that are complete from the first allocation on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "tests/tools/analysis/replay/torch_heap_parts.h"
#include "tools/analysis/replay/replay.h"
#include "tools/interchange/torch_snapshot.h"

namespace memtrace::replay {
namespace {

// Follows a recording whose segments do not expand: every block is put in its recorded place.
// First, each of torch's choices is compared with the rules.
class FollowedRecording {
 public:
  void See(const trace::Event& event) {
    if (const auto* map = std::get_if<trace::Map>(&event.payload)) {
      if (map->size == 0) return;  // it says that no memory existed before
      EXPECT_FALSE(mapped_) << "two segments for one request";
      mapped_ = AddressRange::Of(DeviceAddress{map->address}, map->size);
    } else if (const auto* block = std::get_if<trace::Allocate>(&event.payload)) {
      Allocate(*block);
    } else if (const auto* free = std::get_if<trace::FreeCompleted>(&event.payload)) {
      const auto found = live_.find(free->address);
      ASSERT_NE(found, live_.end());
      heap_.Free(*found->second);
      live_.erase(found);
      if (++frees_ % 64 == 0) heap_.CheckInvariants();
    }
  }

  uint64_t allocations() const { return allocations_; }
  uint64_t best_fits() const { return best_fits_; }
  uint64_t segments() const { return segments_; }
  Bytes reserved() const { return heap_.reserved(); }

 private:
  void Allocate(const trace::Allocate& event) {
    const Bytes rounded = settings_.Rounded(event.requested);
    TorchLane& lane = heap_.lanes().Of({event.requested, StreamId{event.stream}, 0});
    const TorchBlock* found = heap_.lanes().Find(lane, rounded);
    const DeviceAddress address{event.address};
    ++allocations_;
    if (mapped_) {
      EXPECT_EQ(found, nullptr) << "torch asks the driver only if nothing fits";
      EXPECT_EQ(settings_.SegmentFor(rounded), mapped_->size());
      ++segments_;
      heap_.lanes().Put(*heap_.AddSegment(lane, *mapped_));
      mapped_.reset();
    } else if (found != nullptr && found->address == address) {
      ++best_fits_;
    }
    TorchBlock* block = heap_.Carve(address, rounded);
    ASSERT_NE(block, nullptr) << "torch put a block where none is free here";
    heap_.Use(*block, rounded);
    live_[event.address] = block;
  }

  const TorchSettings settings_{};
  AscendingAddresses addresses_;
  TorchHeap heap_{settings_, addresses_};
  std::map<uint64_t, TorchBlock*> live_;
  std::optional<AddressRange> mapped_;
  uint64_t allocations_ = 0;
  uint64_t best_fits_ = 0;
  uint64_t segments_ = 0;
  uint64_t frees_ = 0;
};

// The parameter is a file of the corpus.
class RealRecordingTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* corpus = std::getenv("MEMTRACE_CORPUS");
    if (corpus == nullptr) GTEST_SKIP() << "MEMTRACE_CORPUS is not set";
    const auto path = std::filesystem::path(corpus) / "snapshots" / GetParam();
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
    std::ifstream file(path, std::ios::binary);
    pickle_.assign(std::istreambuf_iterator<char>(file), {});
    auto read = interchange::TorchSnapshot::Read(pickle_);
    ASSERT_TRUE(read.ok()) << read.status();
    snapshot_.emplace(*std::move(read));
  }
  bool expands() const { return std::string(GetParam()).starts_with("Constructor-Sun"); }

  std::string pickle_;
  std::optional<interchange::TorchSnapshot> snapshot_;
};

// The parameter is a program whose segments do not expand.
class NativeRecordingTest : public RealRecordingTest {};

TEST_P(NativeRecordingTest, EveryReusedBlockIsTheBestFit) {
  FollowedRecording followed;
  snapshot_->ForEach([&](const trace::Event& event) { followed.See(event); });
  EXPECT_GT(followed.allocations(), 500U);
  EXPECT_EQ(followed.best_fits() + followed.segments(), followed.allocations());
  EXPECT_GT(followed.segments(), 10U);
}

TEST_P(RealRecordingTest, ReplayPlacesEveryBlockAsRecorded) {
  const RecordedRun run = RecordedRun::Of(*snapshot_, "native", "");
  EXPECT_EQ(run.policy, expands() ? PolicyKind::kTorchExpandable : PolicyKind::kTorchNative);
  uint64_t allocations = 0;
  for (const ReplayOutcome& card : Replay(*snapshot_, run, {run.policy, {}, {}}).devices) {
    EXPECT_EQ(card.placed_as_recorded, card.allocations);
    EXPECT_EQ(card.guessed_pools, 0U);
    allocations += card.allocations;
  }
  EXPECT_GT(allocations, 500U);
}

constexpr const char* kExpandable = "Constructor-Sun__code_location__memory_snapshot.pickle";
constexpr const char* kForward =
    "NiuHuangxiaozi__assignment2-systems__forward_memory_snapshot_100.pickle";
constexpr const char* kTraining =
    "NiuHuangxiaozi__assignment2-systems__forward_and_backward_memory_snapshot_100.pickle";
constexpr const char* kMixed =
    "NiuHuangxiaozi__assignment2-systems__forward_and_backward_memory_snapshot_200_mixed_"
    "precision.pickle";
constexpr auto kNumber = [](const auto& is) { return "Snapshot" + std::to_string(is.index); };

INSTANTIATE_TEST_SUITE_P(Complete, NativeRecordingTest,
                         testing::Values(kForward, kTraining, kMixed), kNumber);
INSTANTIATE_TEST_SUITE_P(Complete, RealRecordingTest,
                         testing::Values(kForward, kTraining, kMixed, kExpandable), kNumber);

}  // namespace
}  // namespace memtrace::replay
