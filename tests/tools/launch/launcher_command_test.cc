// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/launcher_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/launch/rank_plans.h"

namespace memtrace::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

const JobRanks kJob = {.world = 512, .cards = 8, .real = {0}};

Words CommandOf(const Words& command) {
  const auto words = CommandOfRank(command, kJob);
  EXPECT_TRUE(words.ok()) << words.status();
  return words.value_or(Words());
}

std::string ErrorOf(const Words& command) {
  return std::string(CommandOfRank(command, kJob).status().message());
}

TEST(LauncherCommandTest, OtherCommandsStayAsTheyAre) {
  EXPECT_THAT(CommandOf({"python", "train.py", "-m", "torch.distributed.run"}),
              ElementsAre("python", "train.py", "-m", "torch.distributed.run"));
  EXPECT_THAT(CommandOf({"python", "-m", "torchtitan.train"}),
              ElementsAre("python", "-m", "torchtitan.train"));
  EXPECT_THAT(CommandOf({"./train.sh"}), ElementsAre("./train.sh"));
}

TEST(LauncherCommandTest, OptionsOfTheLauncherAreDropped) {
  EXPECT_THAT(CommandOf({"python", "-X", "dev", "-m", "torch.distributed.run", "--nnodes=64",
                         "--nproc_per_node", "8", "--standalone", "train.py", "--nnodes", "1"}),
              ElementsAre("python", "-X", "dev", "train.py", "--nnodes", "1"));
  EXPECT_THAT(CommandOf({"python", "-m", "torch.distributed.run", "-m", "torchtitan.train", "-t"}),
              ElementsAre("python", "-m", "torchtitan.train", "-t"));
  EXPECT_THAT(CommandOf({"python", "-m", "torch.distributed.run", "--no-python", "./train"}),
              ElementsAre("./train"));
  EXPECT_THAT(CommandOf({"/nowhere/torchrun", "--nproc-per-node", "gpu", "-r", "3", "train.py"}),
              ElementsAre("python", "train.py"));
}

TEST(LauncherCommandTest, NumbersThatDoNotAgreeAreRejected) {
  EXPECT_EQ(ErrorOf({"torchrun", "--nproc-per-node", "4", "train.py"}),
            "--nproc-per-node 4 does not agree with --world and --card, which give 8: write "
            "--nproc-per-node 8, or change --world or --card");
  EXPECT_EQ(
      ErrorOf({"torchrun", "--nnodes", "2", "train.py"}),
      "--nnodes 2 does not agree with --world and --card, which give 64: write --nnodes 64, or "
      "change --world or --card");
  EXPECT_EQ(CommandOf({"torchrun", "--nnodes", "1:64", "train.py"}).back(), "train.py");
}

TEST(LauncherCommandTest, UnknownOptionsAreRejected) {
  EXPECT_THAT(ErrorOf({"torchrun", "--virtual-local-rank", "train.py"}),
              HasSubstr("--virtual-local-rank is not known"));
  EXPECT_THAT(ErrorOf({"torchrun", "--nnodes"}), HasSubstr("--nnodes is not known"));
  EXPECT_THAT(ErrorOf({"torchrun", "--standalone"}), HasSubstr("names no script"));
}

TEST(LauncherCommandTest, OtherLaunchersAreRejected) {
  EXPECT_EQ(
      ErrorOf({"/usr/bin/accelerate", "launch", "train.py"}),
      "--world starts the ranks itself, instead of accelerate; write the command of one rank: "
      "python SCRIPT ARGS");
}

TEST(RankPlansTest, TracesHaveTheRankInTheirNames) {
  EXPECT_EQ(OutputOfRank("traces/", 448), "traces/rank-448.trace");
  EXPECT_EQ(OutputOfRank(testing::TempDir(), 0), testing::TempDir() + "rank-0.trace");
  EXPECT_EQ(OutputOfRank("job/run.trace", 7), "job/run.rank-7.trace");
  EXPECT_EQ(OutputOfRank("run", 7), "run.rank-7");
  EXPECT_EQ(OutputOfRank("", 7), "");
}

}  // namespace
}  // namespace memtrace::launch
