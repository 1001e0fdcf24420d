// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/card_libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace memtrace::launch {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(CardLibrariesTest, NeededLibrariesOfThisProgramAreRead) {
  EXPECT_THAT(NeededLibraries("/proc/self/exe"), Contains("libc.so.6"));
}

TEST(CardLibrariesTest, FilesThatAreNotElfNeedNothing) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "needed.txt";
  std::ofstream(file) << "\x7f"
                      << "ELF and then nothing of the kind";
  EXPECT_THAT(NeededLibraries(file.string()), IsEmpty());
  EXPECT_THAT(NeededLibraries("/nowhere"), IsEmpty());
  std::filesystem::remove(file);
}

TEST(CardLibrariesTest, ProgramWithoutCudaGetsLibrariesForAnyCuda) {
  EXPECT_THAT(CardLibrariesFor({"libc.so.6"}),
              ElementsAre("libcuda.so.1", "libcudnn.so.9", "libcusparse.so.12", "libnvidia-ml.so.1",
                          "libnccl.so.2"));
}

TEST(CardLibrariesTest, ProgramGetsTheLibrariesOfItsCuda) {
  const auto twelve = CardLibrariesFor({"libc.so.6", "libcublas.so.12"});
  EXPECT_THAT(twelve, Contains("libcudart.so.12"));
  EXPECT_THAT(twelve, Contains("libcusolver.so.11"));
  EXPECT_THAT(twelve, Each(Not(HasSubstr(".so.13"))));
  const auto thirteen = CardLibrariesFor({"libcudart.so.13"});
  EXPECT_THAT(thirteen, Contains("libcusolver.so.12"));
  EXPECT_THAT(thirteen, Not(Contains("libcudart.so.12")));
}

}  // namespace
}  // namespace memtrace::launch
