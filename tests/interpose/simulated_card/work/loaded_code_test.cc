// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/loaded_code.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/interpose/simulated_card/memory/card_sizes.h"

namespace memtrace::card {
namespace {

// A library with two kernels and two variables, of which the cards come after the first ones.
class LoadedCodeTest : public ::testing::Test {
 protected:
  LoadedCodeTest() {
    code_.RegisterKernel(&functions_[0], "gemm");
    code_.RegisterVariable(&shadows_[0], 100);
    code_.PassTo(machine_.kernels, machine_.device_variables);
    code_.RegisterKernel(&functions_[1], "softmax");
    code_.RegisterVariable(&shadows_[1], 200);
  }

  const int functions_[2] = {};
  const int shadows_[3] = {};
  Machine machine_ = Machine({{.bytes = 1_GiB}}, 64_MiB);
  LoadedCode code_;
};

TEST_F(LoadedCodeTest, KernelsAreKnownWheneverTheyWereRegistered) {
  EXPECT_STREQ(machine_.kernels.CountLaunch(&functions_[0]), "gemm");
  EXPECT_STREQ(machine_.kernels.CountLaunch(&functions_[1]), "softmax");
}

TEST_F(LoadedCodeTest, VariablesAreKnownWheneverTheyWereRegistered) {
  Address begin;
  std::uint64_t bytes = 0;
  EXPECT_EQ(machine_.device_variables.Find(&shadows_[0], 0, &begin, &bytes), Result::kSuccess);
  EXPECT_EQ(bytes, 100u);
  EXPECT_EQ(machine_.device_variables.Find(&shadows_[1], 0, &begin, &bytes), Result::kSuccess);
  EXPECT_EQ(bytes, 200u);
  EXPECT_EQ(machine_.device_variables.Find(&shadows_[2], 0, &begin, &bytes),
            Result::kInvalidSymbol);
}

}  // namespace
}  // namespace memtrace::card
