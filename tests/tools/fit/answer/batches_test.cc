// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/answer/batches.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace memtrace::fit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BatchesTest, SentencesOfAllLoadersAreReturnedInOrder) {
  EXPECT_THAT(BatchSentencesOf(R"([{"line":"a.py:1","said":["One.","Two."]},{"said":["Three."]}])"),
              ElementsAre("One.", "Two.", "Three."));
}

TEST(BatchesTest, MalformedTextSaysNothing) {
  for (const char* text : {"", "[", "{}", "[1]", "[{}]", R"([{"said":"One."}])"})
    EXPECT_THAT(BatchSentencesOf(text), IsEmpty()) << text;
}

}  // namespace
}  // namespace memtrace::fit
