// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/printable.h"

#include <gtest/gtest.h>

namespace memtrace::report {
namespace {

TEST(ShortenedTest, CutsTheEndOrTheBeginningAtWholeCharacters) {
  EXPECT_EQ(Shortened("torch/optim/adam.py:791", 10), "torch/opt…");
  EXPECT_EQ(ShortenedFront("torch/optim/adam.py:791", 12), "…adam.py:791");
  EXPECT_EQ(ShortenedFront("übergröße.py", 8), "…röße.py");
  EXPECT_EQ(ShortenedFront("a.py", 4), "a.py");
  EXPECT_EQ(ShortenedFront("a.py", 1), "…");
}

}  // namespace
}  // namespace memtrace::report
