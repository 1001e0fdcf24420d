// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/wheels/stated_version.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace memtrace::card {
namespace {

class StatedVersionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    packages_ = std::filesystem::temp_directory_path() /
                ("stated_version_test." + std::to_string(getpid()));
    std::filesystem::create_directories(packages_ / "nvidia/cudnn/include");
  }
  void TearDown() override { std::filesystem::remove_all(packages_); }

  std::string Header() const {
    return HeaderBeside((packages_ / "torch/lib/libtorch_cuda.so").string(),
                        "cudnn/include/cudnn_version.h");
  }
  void Write(const std::string& text) const { std::ofstream(Header()) << text; }
  std::optional<std::size_t> Stated() const {
    return StatedVersion(Header(),
                         {{"CUDNN_MAJOR", 10000}, {"CUDNN_MINOR", 100}, {"CUDNN_PATCHLEVEL", 1}});
  }

  std::filesystem::path packages_;
};

TEST_F(StatedVersionTest, VersionIsReadFromTheHeader) {
  Write(
      "#ifndef CUDNN_VERSION_H_\n#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 24\n"
      "#define CUDNN_PATCHLEVEL 1\n#define CUDNN_VERSION (CUDNN_MAJOR * 10000)\n");
  EXPECT_EQ(Stated(), 92401u);
}

TEST_F(StatedVersionTest, MacroMentionedBeforeItsDefinitionIsFound) {
  Write(
      "/* CUDNN_MAJOR and the CUDNN_MINOR are below */\n#define CUDNN_PATCHLEVEL 0\n"
      "#define CUDNN_MINOR 1\n#define CUDNN_MAJOR 9\n");
  EXPECT_EQ(Stated(), 90100u);
}

TEST_F(StatedVersionTest, HeaderWithoutAVersionStatesNone) {
  EXPECT_EQ(Stated(), std::nullopt) << "there is no file";
  Write("#define CUDNN_MAJOR 9\n#define CUDNN_MINOR none\n");
  EXPECT_EQ(Stated(), std::nullopt);
}

TEST_F(StatedVersionTest, ProcessWithoutTorchHasNoWheels) {
  EXPECT_EQ(HeaderBesideTorch("cudnn/include/cudnn_version.h"), "");
}

}  // namespace
}  // namespace memtrace::card
