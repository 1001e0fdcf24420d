// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interpose/core/abi/abi_structs.h"

namespace memtrace {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

trace::OutOfMemory Failure(const trace::CardLedger& card) {
  return {.requested = 300_MiB, .allocated = 300_MiB, .obtainable = 100_MiB, .cards = {card}};
}

TEST(ExplanationTest, FullCardTextHasTheShortfallAndTheLargestOwners) {
  const std::vector<recorder::HeldBytes> owners = {
      {.role = trace::Role::kParameter, .owner = "policy", .bytes = 2_GiB},
      {.role = trace::Role::kGradient, .bytes = 512}};
  EXPECT_EQ(ExplainOutOfMemory(Failure({.total = 1_GiB, .free = 100_MiB}), &owners, "run.trace"),
            "memtrace: The card is full, not fragmented. The request for "
            "300.00 MiB failed; at most 100.00 MiB was available (200.00 MiB short).\n"
            "memtrace: The largest holders are parameters of policy 2.00 GiB, gradients 0.50 KiB.\n"
            "memtrace: To see what filled the card, run: memtrace report run.trace");
}

TEST(ExplanationTest, MissingOwnersAndMissingTraceAreStated) {
  const std::vector<recorder::HeldBytes> nobody;
  EXPECT_THAT(ExplainOutOfMemory(Failure({.total = 1_GiB}), &nobody, ""),
              EndsWith("memtrace: No recorded block is in use.\n"));
  EXPECT_THAT(ExplainOutOfMemory(Failure({.total = 1_GiB}), nullptr, ""),
              EndsWith("It is not known who holds the memory, because no trace is recorded.\n"));
}

TEST(ExplanationTest, ControlCharactersInTagsAreEscaped) {
  const std::vector<recorder::HeldBytes> owners = {
      {.owner = "\x1b[2J\nmemtrace: all is well\u202e", .bytes = 1_GiB},
      {.owner = std::string(1'000'000, 'x'), .bytes = 512}};
  const std::string text = ExplainOutOfMemory(Failure({.total = 1_GiB}), &owners, "a\x1b.trace");
  EXPECT_THAT(text, HasSubstr("are \\x1b[2J\\x0amemtrace: all is well\\u202e 1.00 GiB, x"));
  EXPECT_THAT(text, HasSubstr("xxx... 0.50 KiB.\n"));
  EXPECT_THAT(text, EndsWith("memtrace report a\\x1b.trace"));
  EXPECT_LT(text.size(), 500U);
}

TEST(ExplanationTest, CauseAgreesWithTheReport) {
  trace::OutOfMemory limited = Failure({.total = 1_GiB, .free = 1_GiB});
  limited.limit = 100_MiB;
  EXPECT_THAT(ExplainOutOfMemory(limited, nullptr, ""),
              HasSubstr("The limit set for this process (100.00 MiB) is reached"));
  EXPECT_THAT(ExplainOutOfMemory(Failure({.total = 1_GiB, .stream_wait = 250_MiB}), nullptr, ""),
              HasSubstr("250.00 MiB is freed but still waits"));
  EXPECT_THAT(ExplainOutOfMemory(Failure({.total = 1_GiB,
                                          .free = 100_MiB,
                                          .live_allocated = 600_MiB,
                                          .holes = 250_MiB,
                                          .largest_hole = 90_MiB}),
                                 nullptr, ""),
              HasSubstr("in pieces: the largest hole is 90.00 MiB"));
  EXPECT_THAT(
      ExplainOutOfMemory(Failure({.total = 1_GiB, .free = 100_MiB, .other_processes = 800_MiB}),
                         nullptr, ""),
      HasSubstr("Other processes hold 800.00 MiB"));
}

TEST(ExplanationTest, RequestThatTheContextPreventsIsNotCalledLargerThanTheCard) {
  const trace::CardLedger card = {.total = 1_GiB, .free = 124_MiB, .context = 900_MiB};
  EXPECT_THAT(ExplainOutOfMemory(Failure(card), nullptr, ""),
              HasSubstr("The card is too small for this request: it has 1.00 GiB, of which 124.00 "
                        "MiB is unused. The request for 300.00 MiB failed;"));
}

TEST(ExplanationTest, AvailableRequestIsNotCalledShort) {
  trace::OutOfMemory failure = Failure({.total = 1_GiB});
  failure.obtainable = 300_MiB;
  EXPECT_THAT(ExplainOutOfMemory(failure, nullptr, ""),
              HasSubstr("The request for 300.00 MiB failed, although 300.00 MiB was available."));
}

TEST(ExplanationTest, AdviceFollowsTheHolders) {
  EXPECT_THAT(ExplainOutOfMemory(Failure({.total = 1_GiB, .stream_wait = 250_MiB}), nullptr, ""),
              EndsWith("recorded.\nmemtrace: Call torch.cuda.synchronize() before this line.\n"));
}

TEST(ExplanationTest, LongTextIsTruncatedAtALineBreak) {
  memtrace_out_of_memory told{};
  CopyExplanation(told, "short\n" + std::string(5000, 'x'));
  EXPECT_STREQ(told.explanation, "short");
  CopyExplanation(told, std::string(5000, 'x'));
  EXPECT_EQ(std::string_view(told.explanation).size(), sizeof(told.explanation) - 1);
}

}  // namespace
}  // namespace memtrace
