// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/collective_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;

constexpr char kUnknown = 0;
constexpr char kKnown = 2;

template <typename Value>
Part Of(const std::vector<Value>& values, char known = kKnown) {
  Part part;
  part.held = true;
  part.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
  part.known.assign(part.bytes.size(), known);
  return part;
}

template <typename Value>
std::vector<Value> ValuesOf(const Part& part) {
  std::vector<Value> values(part.bytes.size() / sizeof(Value));
  std::memcpy(values.data(), part.bytes.data(), values.size() * sizeof(Value));
  return values;
}

TEST(CollectivePartsTest, EachOperationIsElementwise) {
  const Parts parts = {Of<std::int64_t>({1, -7}), Of<std::int64_t>({5, 2})};
  const auto reduced = [&](ncclRedOp_t operation) {
    return ValuesOf<std::int64_t>(Reduce(parts, ncclInt64, operation));
  };
  EXPECT_THAT(reduced(ncclSum), ElementsAre(6, -5));
  EXPECT_THAT(reduced(ncclProd), ElementsAre(5, -14));
  EXPECT_THAT(reduced(ncclMax), ElementsAre(5, 2));
  EXPECT_THAT(reduced(ncclMin), ElementsAre(1, -7));
  EXPECT_THAT(reduced(ncclAvg), ElementsAre(3, -2));
}

TEST(CollectivePartsTest, ElementTypesAreRespected) {
  const auto bytes = Reduce({Of<std::uint8_t>({200}), Of<std::uint8_t>({3})}, ncclUint8, ncclMax);
  EXPECT_THAT(ValuesOf<std::uint8_t>(bytes), ElementsAre(200));
  const auto floats = Reduce({Of<float>({0.5f}), Of<float>({0.25f})}, ncclFloat32, ncclAvg);
  EXPECT_THAT(ValuesOf<float>(floats), ElementsAre(0.375f));
  const std::vector<__nv_bfloat16> three = {static_cast<__nv_bfloat16>(3.0f)};
  const Part half = Reduce({Of(three), Of(three), Of(three)}, ncclBfloat16, ncclSum);
  EXPECT_EQ(static_cast<float>(ValuesOf<__nv_bfloat16>(half).front()), 9.0f);
}

TEST(CollectivePartsTest, MissingOrUnsupportedPartsGiveNoResult) {
  const Part there = Of<float>({1.0f});
  EXPECT_FALSE(Reduce({there, Part{}}, ncclFloat32, ncclSum).held);
  EXPECT_FALSE(Reduce({there, there}, ncclFloat8e4m3, ncclSum).held);
  EXPECT_FALSE(Reduce({there, there}, ncclFloat32, static_cast<ncclRedOp_t>(ncclNumOps)).held);
  EXPECT_FALSE(Join({there, Part{}}).held);
  EXPECT_FALSE(Join({there, Of<float>({1.0f, 2.0f})}).held) << "of another size";
}

TEST(CollectivePartsTest, UnknownByteMakesItsElementUnknown) {
  Part partly = Of<std::int16_t>({1, 2});
  partly.known[3] = kUnknown;
  const Part sum = Reduce({Of<std::int16_t>({1, 2}), partly}, ncclFloat16, ncclSum);
  EXPECT_EQ(sum.known, std::string({kKnown, kKnown, kUnknown, kUnknown}));
  EXPECT_EQ(Join({Of<char>({'a'}), Of<char>({'b'}, kUnknown)}).known,
            std::string({kKnown, kUnknown}));
}

TEST(CollectivePartsTest, PieceOfAPartIsExtracted) {
  const Part piece = Piece(Of<std::int32_t>({1, 2, 3, 4}), 1, 2);
  EXPECT_THAT(ValuesOf<std::int32_t>(piece), ElementsAre(3, 4));
  EXPECT_EQ(piece.known.size(), 8u);
}

TEST(CollectivePartsTest, PartsSurviveEncoding) {
  Part part = Of<char>({'x', '\0', 'y'});
  part.call = "ncclAllReduce";
  part.size = 3;
  const Part back = Decode(Encode(part));
  EXPECT_EQ(back.call, part.call);
  EXPECT_EQ(back.size, part.size);
  EXPECT_TRUE(back.held);
  EXPECT_EQ(back.bytes, part.bytes);
  EXPECT_EQ(back.known, part.known);
  for (std::size_t bytes = 0; bytes < Encode(part).size(); ++bytes)
    EXPECT_FALSE(Decode(Encode(part).substr(0, bytes)).held);
}

}  // namespace
}  // namespace memtrace::card
