// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/page_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "absl/strings/escaping.h"
#include "nlohmann/json.hpp"
#include "tests/tools/analysis/named_program.h"
#include "tools/report/page/stack_tree.h"

namespace memtrace::report {
namespace {

using analysis::NamedProgram;
using nlohmann::json;
using testing::ElementsAre;

json DataOf(const NamedProgram& program) {
  const analysis::Explanation explanation = *analysis::Explain(program);
  return json::parse(
      PageData("run.trace", explanation, analysis::DetailOf(program, explanation), program));
}

// Returns the values that the differences encode.
std::vector<int64_t> Summed(const json& deltas) {
  std::vector<int64_t> values;
  int64_t sum = 0;
  for (const json& delta : deltas) values.push_back(sum += delta.get<int64_t>());
  return values;
}

TEST(PageDataTest, PiecesAreDeltaEncoded) {
  NamedProgram program;
  program.Allocate(8192, 100).Allocate(4096, 50).Free(8192);
  const json card = DataOf(program)["cards"][0];
  EXPECT_THAT(Summed(card["pieces"]["born"]), ElementsAre(1, 2));
  EXPECT_THAT(Summed(card["pieces"]["address"]), ElementsAre(8192, 4096));
  EXPECT_EQ(card["pieces"]["let_go"], json({2, 0}));
  EXPECT_EQ(card["pieces"]["gone"], json({1, 0}));  // it did not wait
  EXPECT_EQ(card["pieces"]["bytes"], json({100, 50}));
  EXPECT_EQ(card["peak"], json({{"event", 2}, {"bytes", 150}}));
}

TEST(PageDataTest, AddressesOfTheWholeRangeAreDeltaEncoded) {
  NamedProgram program;
  program.Allocate(~uint64_t{0} - 4096, 100).Allocate(4096, 50);
  const json deltas = DataOf(program)["cards"][0]["pieces"]["address"];
  EXPECT_THAT(Summed(deltas), ElementsAre(-4097, 4096));
}

TEST(PageDataTest, NamesAreTruncatedAndWithoutDirectionMarks) {
  NamedProgram program;
  const trace::StringId name = program.Name("\u202e" + std::string(1'000'000, 'x'));
  program.Allocate({.address = 0, .requested = 100, .owner = name});
  const json texts = DataOf(program)["texts"];
  for (const json& text : texts) EXPECT_LT(text.get<std::string>().size(), 400U);
  EXPECT_THAT(texts.dump(), testing::Not(testing::HasSubstr("\u202e")));
}

TEST(PageDataTest, PackedDataIsUnpackedUnchanged) {
  std::string data;
  for (int i = 0; i < 10'000; ++i) data += std::to_string(i * i) + ",";
  const std::string packed = Packed(data);
  EXPECT_LT(packed.size(), data.size());
  EXPECT_EQ(packed.find_first_of("<>&\"'"), std::string::npos);
  std::string deflated;
  ASSERT_TRUE(absl::Base64Unescape(packed, &deflated));
  std::string unpacked(data.size(), '\0');
  uLongf size = unpacked.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(unpacked.data()), &size,
                       reinterpret_cast<const Bytef*>(deflated.data()), deflated.size()),
            Z_OK);
  EXPECT_EQ(unpacked, data);
}

TEST(StackTreeTest, StacksShareTheirOuterFrames) {
  const NamedProgram program;
  StackTree tree(program, 100);
  const StackTree::Node first = tree.Of(20);
  const StackTree::Node second = tree.Of(30);
  EXPECT_EQ(tree.Of(20), first);
  EXPECT_EQ(tree.Of(0), 0U);
  EXPECT_EQ(tree.parents()[first], tree.parents()[second]);
  ASSERT_EQ(tree.parents().size(), 4U);
  const auto name_of = [&tree](StackTree::Node node) { return tree.names()[tree.frames()[node]]; };
  EXPECT_EQ(name_of(first).text, "train.py:20 step");
  EXPECT_EQ(name_of(tree.parents()[first]).text, "train.py:1 <module>");
  EXPECT_TRUE(name_of(first).is_user);
}

TEST(StackTreeTest, StackBeyondTheLimitIsTheRoot) {
  const NamedProgram program;
  StackTree tree(program, 5);
  EXPECT_NE(tree.Of(20), 0U);
  EXPECT_NE(tree.Of(30), 0U);
  EXPECT_EQ(tree.Of(40), 0U);
}

}  // namespace
}  // namespace memtrace::report
