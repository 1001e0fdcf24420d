// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/micro_batches_in_flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/units.h"
#include "tests/tools/analysis/named_program.h"

namespace memtrace::analysis {
namespace {

using testing::ElementsAre;
using testing::Pair;
using trace::Phase;

// Stack 307 is line 3 of a module's forward, called from line 7 of a schedule.
class Model : public NamedProgram {
 public:
  std::vector<trace::Frame> Stack(trace::StackId id) const override {
    if (id == 0) return {};
    return {{.file = "/ada/model.py", .function = "forward", .line = id / 100},
            {.file = "/lib/torch/nn/modules/module.py", .function = "_call_impl", .line = 1},
            {.file = "/lib/torch/schedules.py", .function = "step", .line = id % 100}};
  }
};

// A model of `kLayers` layers and an output module, whose activations tests keep.
class MicroBatchesInFlightTest : public testing::Test {
 protected:
  static constexpr int kLayers = 3;

  MicroBatchesInFlightTest() {
    for (int layer = 0; layer < kLayers; ++layer) {
      Hold(1_MiB, 0, 0);
      live_.Apply({.payload = trace::Relabel{.address = next_,
                                             .size = 1_MiB,
                                             .role = trace::Role::kParameter,
                                             .path = NameOf(layer, ".weight")}});
    }
    live_.Apply({.payload = trace::Step{1}});
    live_.Apply({.payload = trace::PhaseChange{Phase::kForward}});
  }

  trace::StringId NameOf(int layer, const std::string& part) {
    const std::string name = "layers." + std::to_string(layer) + part;
    const auto [found, is_new] = names_.try_emplace(name, 0);
    if (is_new) found->second = model_.Name(name);
    return found->second;
  }
  void Hold(uint64_t bytes, trace::StringId module, trace::StackId stack) {
    next_ += 16_MiB;
    live_.Apply({.payload = trace::Allocate{.address = next_,
                                            .requested = bytes,
                                            .allocated = bytes,
                                            .stack = stack,
                                            .module = module}});
  }
  // Each layer keeps 2 MiB, and `output` 1 MiB.
  void Forward(trace::StackId caller) {
    for (int layer = 0; layer < kLayers; ++layer) Hold(2_MiB, NameOf(layer, ""), 300 + caller);
    Hold(1_MiB, output_, 500 + caller);
  }
  std::optional<MicroBatchesInFlight> Found() {
    live_.Apply({.payload = trace::PhaseChange{Phase::kBackward}});
    SiteNames sites(model_);
    return FindMicroBatchesInFlight(live_.Capture(0), live_.position(), live_, model_, sites);
  }

  Model model_;
  LiveSet live_;
  uint64_t next_ = 0;
  std::map<std::string, trace::StringId> names_;
  const trace::StringId output_ = model_.Name("output");
};

TEST_F(MicroBatchesInFlightTest, CallsFromOtherLinesOfTheScheduleCount) {
  Forward(7);
  Forward(7);
  Forward(9);
  const auto found = Found();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 3U);
  EXPECT_EQ(found->bytes, 18_MiB);
  EXPECT_THAT(found->by_site, ElementsAre(Pair("layers.*", 18_MiB)));
}

TEST_F(MicroBatchesInFlightTest, MicroBatchWhoseBackwardHasBegunCounts) {
  Forward(7);
  const uint64_t last_layer = next_ - 16_MiB;
  Forward(7);
  live_.Apply({.payload = trace::PhaseChange{Phase::kBackward}});
  live_.Apply({.payload = trace::FreeRequested{0, last_layer}});
  live_.Apply({.payload = trace::FreeCompleted{0, last_layer}});
  const auto found = Found();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 2U);
  EXPECT_EQ(found->bytes, 10_MiB);
}

TEST_F(MicroBatchesInFlightTest, ResultsThatTheProgramKeepsAreNoMicroBatches) {
  for (int call = 0; call < 8; ++call) {
    Hold(1_MiB, output_, 507);
    Hold(0, NameOf(0, ""), 307);
  }
  EXPECT_FALSE(Found());
}

TEST_F(MicroBatchesInFlightTest, BlocksOfOneCallAreOneMicroBatch) {
  for (int layer = 0; layer < kLayers; ++layer)
    for (int block = 0; block < 3; ++block) Hold(2_MiB, NameOf(layer, ""), 300 + 7);
  EXPECT_FALSE(Found());  // blocks from one line do not count calls
}

TEST_F(MicroBatchesInFlightTest, EarlierStepDoesNotCount) {
  Forward(7);
  live_.Apply({.payload = trace::Step{2}});
  EXPECT_FALSE(Found());
}

}  // namespace
}  // namespace memtrace::analysis
