// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/policy.h"

#include <gtest/gtest.h>

namespace memtrace::shim {
namespace {

TEST(HostValuesPolicyTest, LaterLinesAndOverloadsTakePrecedence) {
  HostValuesPolicy policy;
  ASSERT_EQ(policy.AddText("aten::argmax result 0\naten::index open\n", "a"), "");
  ASSERT_EQ(policy.AddText("aten::argmax result 3 # mine\naten::index.Tensor never\n", "b"), "");
  EXPECT_EQ(policy.Find("aten::argmax", "")->result, 3);
  EXPECT_TRUE(policy.Find("aten::index", "Tensor")->never);
  EXPECT_TRUE(policy.Find("aten::index", "str")->open);
  EXPECT_FALSE(policy.Find("aten::add", "Tensor")->result.has_value());
}

TEST(HostValuesPolicyTest, AnswerForAPlaceAppliesOnlyBelowIt) {
  HostValuesPolicy policy;
  ASSERT_EQ(policy.AddText("aten::item read false 0 0\n"
                           "aten::item at train.py read true 1 1\n"
                           "aten::item at train.py:7 read false 2 2.5\n",
                           "a"),
            "");
  const OperatorRule& rule = *policy.Find("aten::item", "");
  EXPECT_EQ(rule.AnswerAt({{"/x/torch/a.py", 1, "f"}, {"/home/train.py", 7, "g"}}).real, 2.5);
  EXPECT_EQ(rule.AnswerAt({{"/home/train.py", 8, "g"}}).whole, 1);
  EXPECT_EQ(rule.AnswerAt({{"/home/other.py", 7, "g"}}).whole, 0);
}

TEST(HostValuesPolicyTest, IndicesAreAChoiceOrOneNumber) {
  HostValuesPolicy policy;
  ASSERT_EQ(policy.AddText(
                "aten::topk result balanced\naten::histc widens\naten::_grouped_mm private\n", "a"),
            "");
  EXPECT_EQ(policy.Find("aten::topk", "")->choice, Choice::kEven);
  EXPECT_EQ(policy.Find("aten::topk", "")->most_choices, 0);
  EXPECT_TRUE(policy.Find("aten::histc", "")->widens);
  EXPECT_TRUE(policy.Find("aten::_grouped_mm", "")->is_private);
  ASSERT_EQ(policy.AddText("aten::topk result 0\n", "b"), "");
  EXPECT_FALSE(policy.Find("aten::topk", "")->StatesChoice());
  EXPECT_EQ(policy.Find("aten::topk", "")->result, 0);
  EXPECT_EQ(policy.AddText("aten::topk result evenly\n", "c"),
            "c:1: result needs one value: true, false or a number, or the word balanced or first");
  ASSERT_EQ(policy.AddText("aten::topk result first 64\n", "d"), "");
  EXPECT_EQ(policy.Find("aten::topk", "")->choice, Choice::kFirst);
  EXPECT_EQ(policy.Find("aten::topk", "")->most_choices, 64);
  EXPECT_NE(policy.AddText("aten::topk result first many\n", "e"), "");
}

TEST(HostValuesPolicyTest, InvalidLineIsRejectedWithACorrection) {
  HostValuesPolicy policy;
  EXPECT_EQ(
      policy.AddText("# fine\naten::argmax results 0\n", "mine"),
      "mine:2: 'results' is not a rule; the rules are read, inside, result, count, writes, open, "
      "never, widens, private");
  EXPECT_EQ(
      policy.AddText("argmax result 0", "mine"),
      "mine:1: argmax is not an operator; write its name with its library, as in aten::argmax");
  EXPECT_EQ(policy.AddText("aten::item read 1", "mine"),
            "mine:1: read needs three values: for a condition, a whole number and a real number");
  EXPECT_EQ(
      policy.AddText("limit sideways 5", "mine"),
      "mine:1: 'limit sideways' is not a setting; the settings are limit whole, limit real, stop "
      "condition, stop number");
}

}  // namespace
}  // namespace memtrace::shim
