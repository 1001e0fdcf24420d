// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the smallest card, and how a need grows, with programs whose need is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/match.h"
#include "tools/fit/sizes/scaling.h"
#include "tools/fit/sizes/smallest_card.h"
#include "tools/fit/trials/card_limit.h"

namespace memtrace::fit {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

// A small need peaks in the update, a large one in the backward.
trace::Phase SizedPhase(uint64_t need) {
  return need < 4 * kGiB ? trace::Phase::kOptimizer : trace::Phase::kBackward;
}

// Needs the bytes that the last word of its command determines; native also has a quarter of them
// in holes.
class SizedProgram {
 public:
  using Need = uint64_t (*)(uint64_t value);
  explicit SizedProgram(Need need) : need_(need) {}

  Runner runner() {
    return [this](const Trial& trial, std::string_view name) { return Run(trial, name); };
  }
  size_t runs() const { return runs_; }
  uint64_t more_on_card = 0;  // than without a limit: a library's peak coincides with torch's there

 private:
  absl::StatusOr<Outcome> Run(const Trial& trial, std::string_view /*name*/) {
    ++runs_;
    const uint64_t need = need_(std::strtoull(trial.command.back().c_str(), nullptr, 10));
    const bool is_native = trial.allocator == "native" && trial.set.empty();
    const uint64_t holes = is_native ? need / 4 : 0;
    Outcome outcome;
    ProcessNeed& process = outcome.processes.emplace_back();
    process.cards.push_back({.card = 0,
                             .peak_allocated = need,
                             .peak_reserved = need + holes,
                             .peak_at = {.phase = SizedPhase(need)},
                             .parts = {{"parameters", kGiB}, {"activations", need - kGiB}},
                             .total = need,
                             .fragmentation = holes,
                             .sites = {{"activation, layers.*", need - kGiB}}});
    // torch gives back half of the holes before it fails.
    outcome.completed = BytesOfCards(trial.cards).front() >= need + holes / 2 + more_on_card;
    if (!outcome.completed) process.failed = FailedLine{.line = "train.py:1", .at = {}};
    return outcome;
  }

  Need need_;
  size_t runs_ = 0;
};

Question Asked(const std::string& word) {
  Question question;
  question.trial.command = {"python", "train.py", word};
  question.trial.cards = {"24GiB"};
  return question;
}

TEST(SmallestCardTest, EachAllocatorHasItsOwnSmallestCard) {
  SizedProgram program([](uint64_t) { return 8 * kGiB; });
  const auto found = *FindSmallestCards(Asked("1"), program.runner());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].allocator, "native");
  EXPECT_EQ(found[0].completes, 9 * kGiB);
  EXPECT_EQ(found[0].fails, 9 * kGiB - 64 * kMiB);
  EXPECT_EQ(found[1].completes, 8 * kGiB);
  EXPECT_EQ(found[1].fails, std::nullopt);  // it cannot run with less than it needs
  EXPECT_EQ(found[2].allocator, "memtrace");
}

TEST(SmallestCardTest, SizeThatIsToldToFitWasRun) {
  SizedProgram program([](uint64_t) { return 8 * kGiB; });
  program.more_on_card = 3 * kGiB;
  const SmallestCard found = (*FindSmallestCards(Asked("1"), program.runner()))[1];
  EXPECT_GE(found.completes, 11 * kGiB);
  EXPECT_LT(found.completes, 12 * kGiB);
  ASSERT_TRUE(found.fails.has_value());
  EXPECT_LT(*found.fails, 11 * kGiB);
  EXPECT_GE(*found.fails, 10 * kGiB);
}

TEST(SmallestCardTest, ProgramThatFailsOnEachCardHasNoSmallestOne) {
  SizedProgram program([](uint64_t) { return 8 * kGiB; });
  program.more_on_card = 100 * kGiB;
  EXPECT_THAT(FindSmallestCards(Asked("1"), program.runner()).status().ToString(),
              HasSubstr("although without a limit it completes"));
}

TEST(SmallestCardTest, ProductIsAtLeastTheSmallestCard) {
  SizedProgram program([](uint64_t) { return 23 * kGiB; });
  const auto found = *FindSmallestCards(Asked("1"), program.runner());
  EXPECT_GE(found[0].product_bytes, found[0].completes);
  EXPECT_FALSE(found[0].product.empty());
  SizedProgram larger([](uint64_t) { return 700 * kGiB; });
  EXPECT_EQ((*FindSmallestCards(Asked("1"), larger.runner()))[0].product, "");
}

TEST(SmallestCardTest, ProductIsRunWithWhatIsStatedBesideTheCard) {
  SizedProgram program([](uint64_t) { return 23 * kGiB; });
  Question question = Asked("1");
  question.trial.cards = {"2x24GiB,context=1GiB,nccl=800MiB", "24GiB"};
  std::vector<std::string> last;
  const auto found = FindSmallestCards(question, [&](const Trial& trial, std::string_view name) {
    last = trial.cards;
    return program.runner()(trial, name);
  });
  const std::string product = found->back().product;
  EXPECT_THAT(last, ElementsAre(product + ",nccl=800MiB", product + ",nccl=800MiB", product));
}

const Variation kBatch{.name = "batch", .values = {"1", "2", "4"}};

TEST(ScalingTest, QuadraticNeedIsFoundExactly) {
  SizedProgram program([](uint64_t n) { return (1 + 2 * n + n * n) * kGiB; });
  Question question = Asked("{batch}");
  question.scalings = {kBatch};
  question.trial.cards = {"80GiB"};
  const Scaling scaling = *FindScaling(question, kBatch, program.runner());
  EXPECT_THAT(scaling.needs.constant, DoubleEq(kGiB));
  EXPECT_THAT(scaling.needs.linear, DoubleEq(2.0 * kGiB));
  EXPECT_THAT(scaling.needs.quadratic, DoubleEq(kGiB));
  ASSERT_EQ(scaling.roles.size(), 1U);  // parameters do not grow
  EXPECT_EQ(scaling.roles[0].name, "activations");
  EXPECT_THAT(scaling.roles[0].growth.linear, DoubleEq(2.0 * kGiB));
  ASSERT_EQ(scaling.sites.size(), 1U);
}

TEST(ScalingTest, FormulaDescribesTheLastPhaseIfThePeakMoves) {
  SizedProgram program([](uint64_t n) { return std::max(3 * kGiB, n * kGiB); });
  const Variation values{.name = "batch", .values = {"1", "2", "4", "8", "16"}};
  Question question = Asked("{batch}");
  question.scalings = {values};
  const Scaling scaling = *FindScaling(question, values, program.runner());
  EXPECT_EQ(scaling.holds_from, 4U);
  EXPECT_THAT(scaling.needs.constant, DoubleEq(0));
  EXPECT_THAT(scaling.needs.linear, DoubleEq(kGiB));
  EXPECT_EQ(scaling.points.size(), 5U);
}

TEST(ScalingTest, LargestValueCompletesAndTheNextFails) {
  SizedProgram program([](uint64_t n) { return (1 + n) * kGiB; });
  Question question = Asked("{batch}");
  question.scalings = {kBatch};
  question.trial.cards = {"20GiB"};  // n + 1 and an eighth of it in holes
  const Scaling scaling = *FindScaling(question, kBatch, program.runner());
  EXPECT_EQ(scaling.largest, 16U);
  EXPECT_EQ(scaling.fails, 17U);
  EXPECT_LE(program.runs(), 9U);
}

TEST(ScalingTest, LargestValueIsFoundAlthoughTheNeedDoesNotGrowAtFirst) {
  SizedProgram program([](uint64_t n) { return std::max<uint64_t>(6, n) * kGiB; });
  Question question = Asked("{batch}");
  question.scalings = {kBatch};
  question.trial.cards = {"24GiB"};  // an eighth of the need is in holes
  const Scaling scaling = *FindScaling(question, kBatch, program.runner());
  EXPECT_EQ(scaling.largest, 21U);
  EXPECT_EQ(scaling.fails, 22U);
  EXPECT_LE(program.runs(), 13U);
}

TEST(ScalingTest, SearchEndsIfTheNeedNeverGrows) {
  SizedProgram program([](uint64_t) { return 6 * kGiB; });
  Question question = Asked("{batch}");
  question.scalings = {kBatch};
  const Scaling scaling = *FindScaling(question, kBatch, program.runner());
  EXPECT_EQ(scaling.largest, 4U << 10);
  EXPECT_EQ(scaling.fails, std::nullopt);
}

TEST(ScalingTest, SmallestValueCanFail) {
  SizedProgram program([](uint64_t n) { return (100 + n) * kGiB; });
  Question question = Asked("{batch}");
  question.scalings = {kBatch};
  const Scaling scaling = *FindScaling(question, kBatch, program.runner());
  EXPECT_EQ(scaling.largest, std::nullopt);
  EXPECT_EQ(scaling.fails, 1U);
}

TEST(ScalingTest, ValuesKeepTheirCommonStep) {
  SizedProgram program([](uint64_t n) { return kGiB + n * kMiB; });
  const Variation sequence{.name = "seq", .values = {"512", "1024", "2048"}};
  Question question = Asked("{seq}");
  question.scalings = {sequence};
  const Scaling scaling = *FindScaling(question, sequence, program.runner());
  EXPECT_EQ(*scaling.largest % 512, 0U);
  EXPECT_EQ(*scaling.fails, *scaling.largest + 512);
}

TEST(ScalingTest, WordsCannotBeScaled) {
  SizedProgram program([](uint64_t) { return kGiB; });
  const Variation words{.name = "kind", .values = {"small", "large"}};
  const auto scaling = FindScaling(Asked("{kind}"), words, program.runner());
  EXPECT_THAT(std::string(scaling.status().message()),
              HasSubstr("'small' of kind is not a number"));
  EXPECT_EQ(program.runs(), 0U);
}

TEST(ScalingTest, FormulaPassesThroughItsPoints) {
  EXPECT_THAT(FormulaThrough({{3, 7.0}}).At(100), DoubleEq(7));
  EXPECT_THAT(FormulaThrough({{1, 3.0}, {3, 7.0}}).At(10), DoubleEq(21));
  EXPECT_THAT(FormulaThrough({{1, 1.0}, {2, 4.0}, {5, 25.0}}).At(9), DoubleEq(81));
}

TEST(CardLimitTest, MarginAppliesToEachCard) {
  EXPECT_THAT(*WithMargin({"20GiB;10GiB,other=1GiB"}, 10),
              ElementsAre("20GiB,size=18431MiB;10GiB,other=1GiB,size=9215MiB"));
}

}  // namespace
}  // namespace memtrace::fit
