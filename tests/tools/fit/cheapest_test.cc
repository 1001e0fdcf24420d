// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/cheapest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status_macros.h"
#include "layered_training.h"
#include "tools/fit/frontier.h"
#include "tools/fit/search.h"

namespace memtrace::fit {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::SizeIs;

constexpr uint64_t kGiB = LayeredTraining::kGiB;

absl::StatusOr<Answer> Ask(LayeredTraining& training, uint64_t margin = 0, uint64_t runs = 24) {
  Question question;
  question.trial.command = {"python", "train.py"};
  question.trial.cards = {"24GiB"};
  question.margin_percent = margin;
  question.most_runs = runs;
  Search search(question, [&training](const Trial& trial, std::string_view name) {
    return training.Run(trial, name);
  });
  MEMTRACE_RETURN_IF_ERROR(search.Run());
  return search.answer();
}

std::string NameAt(const Answer& answer, size_t place) {
  std::string name;
  for (const Candidate& change : answer.remedies[place].changes)
    name += (name.empty() ? "" : " + ") + change.HookWord();
  return name;
}

std::string Recommended(const Answer& answer) {
  return answer.recommended ? NameAt(answer, *answer.recommended) : "nothing";
}

[[maybe_unused]] std::string OnlyOneLess(const Answer& answer) {
  const std::vector<size_t>& places = answer.cheapest->one_less;
  return places.size() == 1 ? NameAt(answer, places.front()) : "not one";
}

TEST(CheapestSearchTest, FewestLayersAreCheckpointedAndOneLessIsSeenToFail) {
  LayeredTraining training;  // 36 GiB; each layer saves 1
  const Answer answer = *Ask(training);
  EXPECT_EQ(Recommended(answer), "fused,checkpoint=12");
}

}  // namespace
}  // namespace memtrace::fit
