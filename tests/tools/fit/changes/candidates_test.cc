// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/changes/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/fit/trials/card_limit.h"

namespace memtrace::fit {
namespace {

using analysis::Effort;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Candidate Hook(const std::string& name, Effort effort = Effort::kOption) {
  return {.name = name, .change = "", .cost = "", .effort = effort, .hook = name};
}
const Candidate kExpandable = {
    .name = "expandable", .change = "", .cost = "", .settings = "expandable_segments:True"};
const Candidate kOurs = {.name = "ours", .change = "", .cost = "", .allocator = "memtrace"};

std::vector<std::string> Names(const std::vector<std::vector<Candidate>>& sets) {
  std::vector<std::string> names;
  for (const std::vector<Candidate>& set : sets) {
    std::string& name = names.emplace_back();
    for (const Candidate& candidate : set) name += (name.empty() ? "" : "+") + candidate.name;
  }
  return names;
}

TEST(CandidatesTest, CandidatesAreInOrderOfEffort) {
  const std::vector<Candidate> all = AllCandidates();
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LE(all[i - 1].effort, all[i].effort);
}

TEST(CandidatesTest, ExtensionsOmitContradictoryChanges) {
  EXPECT_THAT(Names(Extensions({Hook("fused")}, {kExpandable, kOurs, Hook("fused"), Hook("loop")})),
              ElementsAre("fused+expandable", "fused+ours"));
}

TEST(CandidatesTest, ExtensionsWithTheLeastEffortComeFirst) {
  EXPECT_THAT(Names(Extensions({kOurs}, {Hook("bf16", Effort::kResults), Hook("fused")})),
              ElementsAre("ours+fused", "ours+bf16"));
}

TEST(CandidatesTest, ChangesAreAddedToTheUsersSettings) {
  Trial trial;
  trial.command = {"python", "train.py", "--batch={n}"};
  const Variation variation{.name = "n", .values = {"8", "4"}};
  const Trial changed = WithChanges(trial, {kExpandable, Hook("fused"), Hook("bf16")},
                                    "max_split_size_mb:64", {variation});
  EXPECT_THAT(changed.set, ElementsAre(Pair("PYTORCH_CUDA_ALLOC_CONF",
                                            "max_split_size_mb:64,expandable_segments:True")));
  EXPECT_EQ(changed.changes, "fused,bf16");
  EXPECT_EQ(changed.allocator, "native");
  EXPECT_THAT(changed.command, ElementsAre("python", "train.py", "--batch=8"));
}

TEST(CandidatesTest, TriedValueReplacesTheFirst) {
  Trial trial;
  trial.command = {"python", "{n}", "{m}"};
  const Variation n{.name = "n", .values = {"8", "4"}};
  const Variation m{.name = "m", .values = {"a", "b"}};
  const std::vector<Candidate> values = CandidatesOf(n);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_THAT(WithChanges(trial, {values[0], kOurs}, "", {n, m}).command,
              ElementsAre("python", "4", "a"));
  EXPECT_THAT(WithFirstValues(trial.command, {n, m}), ElementsAre("python", "8", "a"));
}

TEST(CandidatesTest, VariationNeedsAtLeastTwoValues) {
  EXPECT_THAT(ParseVariation("--vary", "batch=8,4,2")->values, ElementsAre("8", "4", "2"));
  for (const char* wrong : {"", "batch", "batch=", "batch=8", "=8,4", "batch=8,,4"}) {
    EXPECT_THAT(std::string(ParseVariation("--vary", wrong).status().message()),
                HasSubstr("write it as batch_size=8,4,2,1"))
        << wrong;
  }
}

TEST(CardLimitTest, OnlyTheSizeIsChanged) {
  constexpr uint64_t kBytes = uint64_t{100} << 30;
  EXPECT_THAT(*WithBytes({"2x24GiB,other=3GiB", "rtx-4090,size=48GiB;80GiB,cc=9.0"}, kBytes),
              ElementsAre("2x24GiB,other=3GiB,size=102400MiB",
                          "rtx-4090,size=102400MiB;80GiB,cc=9.0,size=102400MiB"));
}

TEST(CardLimitTest, InvalidCardIsNamedInTheError) {
  const std::string why(WithBytes({"24GB"}, kNoLimit).status().message());
  EXPECT_THAT(why, HasSubstr("card '24GB'"));
}

}  // namespace
}  // namespace memtrace::fit
