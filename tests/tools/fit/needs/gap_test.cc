// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/gap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/fit/answer/answer.h"

namespace memtrace::fit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Gap kEvaluation = {"evaluation", "train.py:61 calls eval().", ""};

TEST(GapTest, GapsAreReadFromTheAnnotation) {
  EXPECT_THAT(
      GapsOf(R"([{"moment":"evaluation","evidence":"train.py:61 calls eval().","why_not":null},
                 {"moment":"largest_batch","evidence":"a","why_not":"b"}])"),
      ElementsAre(kEvaluation, Gap{"largest_batch", "a", "b"}));
}

TEST(GapTest, InvalidTextHasNoGaps) {
  for (const char* text : {"", "{}", "[1]", R"([{"evidence":"a"}])", R"([{"moment":1}])"})
    EXPECT_THAT(GapsOf(text), IsEmpty()) << text;
}

TEST(GapTest, GapOfSeveralRanksIsOne) {
  std::vector<Gap> gaps = {kEvaluation};
  AddGaps({{"evaluation", "another sentence", ""}, {"end", "", ""}}, gaps);
  EXPECT_THAT(gaps, ElementsAre(kEvaluation, Gap{"end", "", ""}));
}

TEST(GapTest, EachMomentHasWords) {
#define MEMTRACE_MOMENT(name, word, meaning)    \
  if (std::string_view(word) != "generation") { \
    EXPECT_NE(MomentWords(word), word);         \
  }
#include "profiler/trace/vocabulary/moments.def"
#undef MEMTRACE_MOMENT
}

TEST(GapTest, StepsThatFitAreNotKnownToBeAllIfThereIsAGap) {
  Answer answer;
  answer.has_within = true;
  answer.within.completed = true;
  EXPECT_EQ(answer.verdict(), FitVerdict::kFits);
  answer.gaps = {kEvaluation};
  EXPECT_EQ(answer.verdict(), FitVerdict::kNotKnown);
  answer.within.completed = false;
  EXPECT_EQ(answer.verdict(), FitVerdict::kDoesNotFit);
}

}  // namespace
}  // namespace memtrace::fit
