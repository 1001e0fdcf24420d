// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "interpose/simulated_card/dnn/sizes.h"

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

// The numbers are those of torch.nn.LSTM(20, 30, 2, bidirectional=True).
TEST(DnnSizesTest, WeightCountEqualsTheNetworksParameters) {
  EXPECT_EQ(RnnWeights(kLstm), 2u * 4 * 30 * (20 + 30 + 2) + 2u * 4 * 30 * (60 + 30 + 2));
}

TEST(DnnSizesTest, SecondLayerReadsBothDirectionsOfTheFirst) {
  EXPECT_EQ(RnnMatrix(kLstm, 1, 0).columns, 20);
  EXPECT_EQ(RnnMatrix(kLstm, 2, 0).columns, 60);
  EXPECT_EQ(RnnMatrix(kLstm, 2, 4).columns, 30);
}

TEST(DnnSizesTest, ProjectionFollowsTheGates) {
  EXPECT_EQ(RnnMatrix(kProjected, 0, 8).rows, 10);
  EXPECT_EQ(RnnMatrix(kProjected, 0, 8).columns, 30);
  EXPECT_EQ(RnnMatrix(kLstm, 0, 8).rows, 0);
}

// The figures are an H200's (tests/gpu/recordings/h200/sizes_recurrent.jsonl).
TEST(DnnSizesTest, RnnReserveMatchesARealCard) {
  const RnnShape lstm = {.gates = 4, .layers = 1, .input = 512, .hidden = 1024, .output = 1024};
  EXPECT_EQ(RnnReserve(lstm, 10, 64, 4), 13107456u);
  const RnnShape gru = {.gates = 3, .layers = 1, .input = 80, .hidden = 512, .output = 512};
  EXPECT_EQ(RnnReserve(gru, 100, 16, 2), 9830656u);
  const RnnShape plain = {.gates = 1, .layers = 1, .input = 80, .hidden = 512, .output = 512};
  EXPECT_EQ(RnnReserve(plain, 100, 16, 4), 3277056u);
  const RnnShape projected = {.gates = 4, .layers = 1, .input = 80, .hidden = 512, .output = 32};
  EXPECT_EQ(RnnReserve(projected, 100, 16, 2), 9933056u);
  RnnShape two = {.gates = 4, .layers = 2, .input = 64, .hidden = 128, .output = 128};
  EXPECT_EQ(RnnReserve(two, 20, 8, 4), 901376u);
  two.drops_out = true;
  EXPECT_EQ(RnnReserve(two, 20, 8, 4), 903936u);
}

TEST(DnnSizesTest, RnnWorkspaceHoldsWeightsAndProducts) {
  EXPECT_EQ(RnnWorkspace(kLstm, 7, 3, 4),
            (8u << 20) + 4 * (std::uint64_t{21} * 2 * 4 * 30 + RnnWeights(kLstm)));
}

// The figures are an H200's (sizes_attention.jsonl).
TEST(DnnSizesTest, AttentionForwardWorkspaceMatchesARealCard) {
  constexpr int kMultiprocessors = 132;
  const auto decode = [](std::uint64_t batch, std::uint64_t heads, std::uint64_t key_heads,
                         std::uint64_t keys, std::uint64_t size) {
    return AttentionForwardWorkspace({.batch = batch,
                                      .heads = heads,
                                      .key_heads = key_heads,
                                      .queries = 1,
                                      .keys = keys,
                                      .head_size = size},
                                     kMultiprocessors);
  };
  EXPECT_EQ(decode(4, 32, 8, 2048, 128), 532608u);
  EXPECT_EQ(decode(1, 32, 8, 2048, 128), 266368u);
  EXPECT_EQ(decode(1, 32, 8, 16384, 128), 532608u);
  EXPECT_EQ(decode(2, 12, 12, 1024, 64), 50816u);
  EXPECT_EQ(decode(32, 32, 8, 1024, 128), 0u) << "the card is busy";
  EXPECT_EQ(decode(4, 32, 32, 2048, 128), 0u) << "the card is busy";
  EXPECT_EQ(decode(4, 32, 8, 128, 128), 0u) << "one piece";
  EXPECT_EQ(
      AttentionForwardWorkspace({.batch = 4, .heads = 12, .key_heads = 12, .queries = 8}, 132),
      256u);
}

TEST(DnnSizesTest, AttentionBackwardOfGroupedHeadsHoldsGradientsOfAllHeads) {
  const AttentionShape grouped = {
      .batch = 2, .heads = 28, .key_heads = 4, .queries = 512, .keys = 512, .head_size = 128};
  EXPECT_EQ(AttentionBackwardWorkspace(grouped), 14680064u + 256);
  AttentionShape full = grouped;
  full.key_heads = full.heads;
  EXPECT_EQ(AttentionBackwardWorkspace(full), 256u);
}

TEST(DnnSizesTest, ConvolutionWorkspaceIsTheSumOfItsCopies) {
  EXPECT_EQ(ConvolutionWorkspace({0, 0, 0}), 0u);
  EXPECT_EQ(ConvolutionWorkspace({1000, 0, 512}), 1024u + 512);
}

// 512 channels at 128 x 128, 768 x 768 and 1024 x 1024 elements of 4 bytes, with a filter of 3 x 3
// of 9 MiB, as published reserved bytes of two VAEs imply.
TEST(DnnSizesTest, WideConvolutionTakesScratchUpToTwoGibibytes) {
  constexpr std::uint64_t kMib = std::uint64_t{1} << 20;
  EXPECT_EQ(WideConvolutionWorkspace(32 * kMib, 9 * kMib), (4 * 32 + 10) * kMib);
  EXPECT_EQ(WideConvolutionWorkspace(1152 * kMib, 9 * kMib), (1152 * 7 / 2 + 10) * kMib);
  EXPECT_EQ(WideConvolutionWorkspace(2048 * kMib, 9 * kMib), (3 * 2048 + 10) * kMib);
}

}  // namespace
}  // namespace memtrace::card
