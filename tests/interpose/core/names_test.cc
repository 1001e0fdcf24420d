// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/names.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(NamesTest, SameNameHasTheSameNumber) {
  Names names;
  const uint32_t policy = names.Intern("policy");
  EXPECT_NE(policy, names.Intern("critic"));
  EXPECT_EQ(policy, names.Intern("policy"));
  EXPECT_EQ(names.Text(policy), "policy");
}

TEST(NamesTest, EmptyNameIsZeroAndUnknownNumbersAreEmpty) {
  Names names;
  EXPECT_EQ(names.Intern(""), 0u);
  EXPECT_EQ(names.Text(0), "");
  EXPECT_EQ(names.Text(1), "");
}

TEST(NamesTest, TextsStayValidWhileOthersAreAdded) {
  Names names;
  const std::string_view first = names.Text(names.Intern("a"));
  for (int i = 0; i < 10000; ++i) names.Intern(std::to_string(i));
  EXPECT_EQ(first, "a");
  EXPECT_EQ(first.data(), names.Text(1).data());
}

}  // namespace
}  // namespace memtrace
