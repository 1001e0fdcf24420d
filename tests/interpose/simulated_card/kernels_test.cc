// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "interpose/simulated_card/known_ranges.h"
#include "interpose/simulated_card/reading_thread.h"

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::map<std::string, std::uint64_t> Counts(const Kernels& kernels) {
  std::map<std::string, std::uint64_t> counts;
  kernels.Visit([&](const std::string& name, std::uint64_t count) { counts[name] = count; });
  return counts;
}

TEST(KernelsTest, LaunchesAreCountedByNameAndOnlyOfWhatWasLaunched) {
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

TEST(KernelsTest, ALaunchForgetsWhatIsKnownUnlessItsThreadAccountsForIt) {
  const std::vector<Extent> extents = {{.offset = 0, .bytes = 8}};
  KnownRanges known;
  Kernels kernels(&known);
  known.Set(extents, Known::kKnown);
  ++ReadingThread().operators;
  kernels.CountCall("cublasSgemm_v2");
  EXPECT_EQ(known.Weakest(extents), Known::kKnown);
  --ReadingThread().operators;
  kernels.CountCall("cublasSgemm_v2");
  EXPECT_EQ(known.Weakest(extents), Known::kUnknown);
}

}  // namespace
}  // namespace memtrace::card
