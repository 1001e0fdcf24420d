// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/dnn_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace memtrace::card {
namespace {

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

constexpr RnnShape kLstm = {
    .gates = 4, .layers = 2, .directions = 2, .input = 20, .hidden = 30, .output = 30};
constexpr RnnShape kProjected = {
    .gates = 4, .layers = 2, .directions = 1, .input = 20, .hidden = 30, .output = 10};
constexpr RnnShape kGruWithoutBias = {
    .gates = 3, .layers = 3, .directions = 1, .input = 7, .hidden = 5, .output = 5, .bias_sets = 0};

void Add(const RnnParameter& parameter, Ranges* ranges) {
  const auto elements =
      static_cast<std::uint64_t>(parameter.rows) * static_cast<std::uint64_t>(parameter.columns);
  if (elements > 0) ranges->emplace_back(parameter.offset, parameter.offset + elements);
}

Ranges AllParameters(const RnnShape& shape) {
  Ranges ranges;
  for (int layer = 0; layer < shape.PseudoLayers(); ++layer) {
    for (int linear = 0; linear <= 2 * shape.gates; ++linear)
      Add(RnnMatrix(shape, layer, linear), &ranges);
    for (int linear = 0; linear < 2 * shape.gates; ++linear)
      Add(RnnBias(shape, layer, linear), &ranges);
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

class RnnWeightsTest : public ::testing::TestWithParam<RnnShape> {};

TEST_P(RnnWeightsTest, ParametersFillTheWeightsWithoutGapOrOverlap) {
  std::uint64_t end = 0;
  for (const auto& [begin, next] : AllParameters(GetParam())) {
    EXPECT_EQ(begin, end);
    end = next;
  }
  EXPECT_EQ(end, RnnWeights(GetParam()));
}

TEST_P(RnnWeightsTest, MatricesOfAllGatesFollowEachOther) {
  const RnnShape& shape = GetParam();
  for (int linear = 1; linear < 2 * shape.gates; ++linear) {
    if (linear == shape.gates) continue;
    const RnnParameter before = RnnMatrix(shape, 1, linear - 1);
    EXPECT_EQ(RnnMatrix(shape, 1, linear).offset,
              before.offset + static_cast<std::uint64_t>(before.rows * before.columns));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RnnWeightsTest,
                         ::testing::Values(kLstm, kProjected, kGruWithoutBias));

// torch.nn.LSTM(20, 30, 2, bidirectional=True) has so many parameters.
TEST(DnnSizesTest, WeightsAreAsManyAsTheNetworksParameters) {
  EXPECT_EQ(RnnWeights(kLstm), 2u * 4 * 30 * (20 + 30 + 2) + 2u * 4 * 30 * (60 + 30 + 2));
}

TEST(DnnSizesTest, SecondLayerReadsBothDirectionsOfTheFirst) {
  EXPECT_EQ(RnnMatrix(kLstm, 1, 0).columns, 20);
  EXPECT_EQ(RnnMatrix(kLstm, 2, 0).columns, 60);
  EXPECT_EQ(RnnMatrix(kLstm, 2, 4).columns, 30);
}

TEST(DnnSizesTest, ProjectionIsTheMatrixAfterTheGates) {
  EXPECT_EQ(RnnMatrix(kProjected, 0, 8).rows, 10);
  EXPECT_EQ(RnnMatrix(kProjected, 0, 8).columns, 30);
  EXPECT_EQ(RnnMatrix(kLstm, 0, 8).rows, 0);
}

// Per step and sequence: 4 layers and directions of 4 gates and a state, 30 each, and what the
// first layer hands to the second, 2 x 30.
TEST(DnnSizesTest, ReserveGrowsWithStepsAndSequences) {
  EXPECT_EQ(RnnReserve(kLstm, 1, 1), 4u * 5 * 30 + 60);
  EXPECT_EQ(RnnReserve(kLstm, 7, 3), 21 * RnnReserve(kLstm, 1, 1));
  EXPECT_EQ(RnnWorkspace(kLstm, 7, 3), 21u * 2 * 4 * 30);
}

TEST(DnnSizesTest, ConvolutionCopiesWhatIsNotChannelsLast) {
  EXPECT_EQ(ConvolutionWorkspace({0, 0, 0}), 0u);
  EXPECT_EQ(ConvolutionWorkspace({1000, 0, 512}), 1024u + 512);
}

// 512 channels at 128 x 128, 768 x 768 and 1024 x 1024 elements of 4 bytes: with a filter of 3 x 3,
// 9 MiB, what published reserved bytes of two VAEs ask for.
TEST(DnnSizesTest, WideConvolutionTakesScratchUpToTwoGibibytes) {
  constexpr std::uint64_t kMib = std::uint64_t{1} << 20;
  EXPECT_EQ(WideConvolutionWorkspace(32 * kMib, 9 * kMib), (4 * 32 + 10) * kMib);
  EXPECT_EQ(WideConvolutionWorkspace(1152 * kMib, 9 * kMib), (1152 * 7 / 2 + 10) * kMib);
  EXPECT_EQ(WideConvolutionWorkspace(2048 * kMib, 9 * kMib), (3 * 2048 + 10) * kMib);
}

}  // namespace
}  // namespace memtrace::card
