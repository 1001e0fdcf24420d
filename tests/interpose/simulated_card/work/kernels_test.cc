// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "interpose/simulated_card/memory/known_ranges.h"
#include "interpose/simulated_card/memory/reading_thread.h"
#include "tests/interpose/simulated_card/memory/card_sizes.h"

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::map<std::string, std::uint64_t> Counts(const Kernels& kernels) {
  std::map<std::string, std::uint64_t> counts;
  kernels.Visit([&](const std::string& name, std::uint64_t count) { counts[name] = count; });
  return counts;
}

TEST(KernelsTest, OnlyLaunchedKernelsAreListedWithCounts) {
  const int functions[4] = {};
  Kernels kernels;
  kernels.Register(&functions[0], "gemm");
  kernels.Register(&functions[1], "softmax");
  kernels.CountLaunch(&functions[0]);
  kernels.Register(&functions[2], "gelu");
  kernels.CountLaunch(&functions[2]);
  kernels.CountLaunch(&functions[0]);
  kernels.CountLaunch(&functions[3]);
  kernels.CountCall("cublasSgemm_v2");
  EXPECT_THAT(Counts(kernels), ElementsAre(Pair("(unregistered)", 1), Pair("cublasSgemm_v2", 1),
                                           Pair("gelu", 1), Pair("gemm", 2)));
  EXPECT_EQ(kernels.Launches(), 5u);
}

class KernelsForgettingTest : public ::testing::Test {
 protected:
  Machine machine_ = Machine({{.bytes = 1_GiB}}, 64_MiB);
  KnownRanges known_;
  KernelWrites writes_{machine_.space, machine_.file, known_};
  Kernels kernels_{&writes_};
  const std::vector<Extent> extents_ = {{.offset = 0, .bytes = 8}};
};

TEST_F(KernelsForgettingTest, LaunchForgetsKnownValuesUnlessItsThreadTracksThem) {
  known_.Set(extents_, Known::kKnown);
  ++ReadingThread().operators;
  kernels_.CountCall("cublasSgemm_v2");
  EXPECT_EQ(known_.Weakest(extents_), Known::kKnown);
  --ReadingThread().operators;
  kernels_.CountCall("cublasSgemm_v2");
  EXPECT_EQ(known_.Weakest(extents_), Known::kUnknown);
}

TEST_F(KernelsForgettingTest, LaunchWithoutMemoryArgumentsForgetsNothing) {
  const int function = 0;
  const std::vector<Address> none;
  known_.Set(extents_, Known::kKnown);
  kernels_.CountLaunch(&function, &none);
  EXPECT_EQ(known_.Weakest(extents_), Known::kKnown);
}

}  // namespace
}  // namespace memtrace::card
