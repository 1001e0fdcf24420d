// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/peak_section.h"

#include <gtest/gtest.h>

#include "base/units.h"
#include "nlohmann/json.hpp"
#include "tests/tools/analysis/named_program.h"
#include "tools/analysis/explanation.h"

namespace memtrace::report {
namespace {

// A card of 1 GiB without a context, of which `free` is left after 800 MiB were mapped.
class PeakSectionTest : public testing::Test {
 protected:
  PeakSectionTest() {
    program_.Add(trace::CardSample{{.device = 0, .total = 1_GiB, .free = 1_GiB}});
    program_.Add(trace::Map{0, 0, 800_MiB, 0});
  }
  analysis::CardExplanation ExplainedCard() {
    return analysis::Explain(program_)->card_of_verdict();
  }

  analysis::NamedProgram program_;
};

TEST_F(PeakSectionTest, ReservedMemoryIsBrokenDownAtItsFullestMoment) {
  program_.Allocate(0, 100_MiB).Allocate(200_MiB, 300_MiB).Free(200_MiB).Allocate(700_MiB, 50_MiB);
  const auto peak = ReservedPeakJson(ExplainedCard());
  EXPECT_EQ(peak["bytes"], 800_MiB);
  EXPECT_EQ(peak["allocated"], 400_MiB);
  EXPECT_EQ(peak["holes"], 400_MiB);
  EXPECT_EQ(peak["largest_hole"], 300_MiB);
  EXPECT_TRUE(peak["retries"].is_null());
}

TEST_F(PeakSectionTest, LaterSmallerMappingIsNotTheReservedPeak) {
  program_.Allocate(0, 100_MiB).Free(0).Add(trace::Unmap{0, 0, 800_MiB});
  program_.Add(trace::Map{0, 0, 700_MiB, 0}).Allocate(0, 690_MiB);
  EXPECT_EQ(ReservedPeakJson(ExplainedCard())["allocated"], 100_MiB);
}

TEST_F(PeakSectionTest, FullCardOfWaitingMemoryIsTheHeadline) {
  program_.Allocate(0, 700_MiB).Add(trace::FreeRequested{0, 0}).Allocate(700_MiB, 50_MiB);
  EXPECT_EQ(WaitingSentence(ExplainedCard()),
            "700.0 MiB of card 0's 1.00 GiB was freed but still waited for other streams "
            "(record_stream), before the first step. 50.0 MiB was in use then.");
}

TEST_F(PeakSectionTest, WaitingMemoryOnACardWithRoomIsNoHeadline) {
  program_.Allocate(0, 100_MiB).Add(trace::FreeRequested{0, 0}).Allocate(700_MiB, 50_MiB);
  EXPECT_EQ(WaitingSentence(ExplainedCard()), "");
}

TEST_F(PeakSectionTest, ReservedPeakIsReportedIfMuchWasUnused) {
  program_.Allocate(0, 500_MiB);
  EXPECT_EQ(
      ReservedSentence(ExplainedCard()),
      "At most 800.0 MiB was reserved, before the first step: 500.0 MiB in use, 300.0 MiB in holes "
      "beside blocks (largest 300.0 MiB).");
  program_.Allocate(500_MiB, 250_MiB);
  EXPECT_EQ(ReservedSentence(ExplainedCard()), "");
}

TEST_F(PeakSectionTest, HolesAreNotCountedAsLeft) {
  program_.Allocate(0, 700_MiB);
  EXPECT_EQ(
      LeftSentence(ExplainedCard()),
      "At that moment 224.0 MiB of card 0's 1.00 GiB was still available. Another 100.0 MiB was "
      "free in one hole between blocks.");
}

}  // namespace
}  // namespace memtrace::report
