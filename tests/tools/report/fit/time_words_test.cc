// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/time_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tools/fit/changes/candidates.h"
#include "tools/report/fit/fit_json.h"
#include "tools/report/fit/remedy_sections.h"
#include "tools/report/words/text_document.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::Outcome;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A run that fits, whose steps take so many milliseconds of the card and half of that of the host.
Outcome TimedRun(uint64_t milliseconds) {
  Outcome outcome;
  outcome.completed = true;
  fit::ProcessNeed& process = outcome.processes.emplace_back();
  fit::StepTime& time = process.time.emplace();
  time.parts = {{"forward", milliseconds * 1000, milliseconds * 500}};
  time.is_measured = true;
  time.launches = 100;
  return outcome;
}

Answer TimedAnswer(Outcome unlimited, Outcome changed) {
  Answer answer;
  answer.unlimited = std::move(unlimited);
  answer.remedies = {{.changes = {fit::AllCandidates().front()}, .outcome = std::move(changed)}};
  return answer;
}

std::string TextOfRemedies(const Answer& answer) { return TextOf({RemedySection(answer)}); }

TEST(TimeWordsTest, TimeIsAMultipleOfTheUnchangedRuns) {
  const Answer answer = TimedAnswer(TimedRun(100), TimedRun(129));
  EXPECT_THAT(TextOfRemedies(answer), HasSubstr("estimated time"));
  EXPECT_THAT(TextOfRemedies(answer), HasSubstr("1.29 x"));
  const auto remedy = nlohmann::json::parse(JsonFit(answer))["remedies"][0];
  EXPECT_DOUBLE_EQ(remedy["time_ratio"], 1.29);
  EXPECT_DOUBLE_EQ(remedy["step_cost"]["seconds"], 0.129);
}

TEST(TimeWordsTest, ThereIsNoColumnWithoutTimes) {
  Answer answer = TimedAnswer(TimedRun(100), TimedRun(129));
  answer.unlimited.processes[0].time.reset();
  EXPECT_THAT(TextOfRemedies(answer), Not(HasSubstr("estimated time")));
  EXPECT_THAT(TimeNotes(answer), IsEmpty());
  EXPECT_TRUE(nlohmann::json::parse(JsonFit(answer))["step_time"].is_null());
}

TEST(TimeWordsTest, NotesSayWhatIsAssumed) {
  Answer answer = TimedAnswer(TimedRun(100), TimedRun(129));
  EXPECT_THAT(TimeNotes(answer), ElementsAre(Not(HasSubstr("assumed"))));
  fit::StepTime& time = *answer.unlimited.processes[0].time;
  time.is_measured = false;
  time.unknown = {"a::a", "b::b", "c::c", "d::d"};
  time.parts[0].host = 1'000'000;
  EXPECT_THAT(TimeNotes(answer), ElementsAre(HasSubstr("speeds are assumed, from an H100's"),
                                             HasSubstr("bound by launches"),
                                             HasSubstr("a::a, b::b, c::c and 1 more")));
}

TEST(TimeWordsTest, UncountedKernelsLeaveNoTime) {
  Answer answer = TimedAnswer(TimedRun(100), TimedRun(129));
  answer.unlimited.processes[0].time->uncounted = 11;
  EXPECT_EQ(TimeText(answer, answer.remedies[0].outcome), "");
  EXPECT_THAT(TimeNotes(answer), ElementsAre(HasSubstr("11 kernels of a step")));
  EXPECT_TRUE(nlohmann::json::parse(JsonFit(answer))["step_cost"]["seconds"].is_null());
}

}  // namespace
}  // namespace memtrace::report
