// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/need.h"

#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

constexpr uint64_t kRunMiB = uint64_t{1} << 20;

// A process with 100 MiB of parameters on a card where it sees `others` bytes of other processes.
ProcessNeed ProcessSeeing(uint64_t others) {
  ProcessNeed process;
  CardNeed& need = process.cards.emplace_back();
  need.peak_allocated = 100 * kRunMiB;
  need.parts = {
      {"parameters", 100 * kRunMiB}, {"context", 500 * kRunMiB}, {"other processes", others}};
  need.total = 600 * kRunMiB + others;
  return process;
}

uint64_t BytesOf(const CardNeed& need, const std::string& name) {
  for (const NeedPart& part : need.parts)
    if (part.name == name) return part.bytes;
  return 0;
}

TEST(NeedTest, MemoryOfProcessesSeenByEachOtherIsCountedOnce) {
  std::vector<ProcessNeed> processes = {ProcessSeeing(600 * kRunMiB), ProcessSeeing(550 * kRunMiB)};
  CountOthersOnce({0}, processes);
  const std::vector<CardNeed> joined = Joined(processes);
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(joined[0].total, 1200 * kRunMiB);
  EXPECT_EQ(BytesOf(joined[0], "other processes"), 0U);
  EXPECT_EQ(BytesOf(joined[0], "context"), 1000 * kRunMiB);
}

TEST(NeedTest, OtherProcessesCountOnce) {
  std::vector<ProcessNeed> processes = {ProcessSeeing(650 * kRunMiB), ProcessSeeing(650 * kRunMiB)};
  CountOthersOnce({50 * kRunMiB}, processes);
  EXPECT_EQ(Joined(processes)[0].total, 1250 * kRunMiB);
  std::vector<ProcessNeed> alone = {ProcessSeeing(50 * kRunMiB)};
  CountOthersOnce({0}, alone);  // its ledger is more exact
  EXPECT_EQ(Joined(alone)[0].total, 650 * kRunMiB);
}

TEST(NeedTest, CostOfAStepIsReadFromAnnotations) {
  const StepCost cost = CostOf({{"fit.step.kernel_launches", "7"},
                                {"fit.step.sent_bytes", "50"},
                                {"fit.step.sent_bytes_network", "60"},
                                {"fit.step.sends", "2"}});
  EXPECT_EQ(cost.kernel_launches, 7u);
  EXPECT_EQ(cost.host_copy_bytes, 0u);
  EXPECT_EQ(cost.sent_bytes, 50u);
  EXPECT_EQ(cost.sent_bytes_network, 60u);
  EXPECT_EQ(cost.sends, 2u);
}

TEST(NeedTest, PlaceIsTheLineElseTheModuleElseTheLibrarysLine) {
  analysis::ExplainedRequest request;
  request.site = "[0]";
  request.module = "0";
  EXPECT_EQ(PlaceOf(request), "module 0");
  request.module = "layers.3.mlp";
  EXPECT_EQ(PlaceOf(request), "layers.3.mlp");
  request.module = "";
  request.site = "torch/optim/adamw.py:395";
  EXPECT_EQ(PlaceOf(request), "torch/optim/adamw.py:395");
  request.site = "(in forward)";
  EXPECT_EQ(PlaceOf(request), "");
  request.backward = trace::Frame{.file = "/home/me/train.py", .function = "", .line = 7};
  EXPECT_EQ(PlaceOf(request), "train.py:7");
}

}  // namespace
}  // namespace memtrace::fit
