// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <cudnn_version.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "interpose/simulated_card/dnn/version.h"

namespace memtrace::card {
namespace {

class DnnVersionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    packages_ =
        std::filesystem::temp_directory_path() / ("dnn_version_test." + std::to_string(getpid()));
    std::filesystem::create_directories(packages_ / "nvidia/cudnn/include");
  }
  void TearDown() override { std::filesystem::remove_all(packages_); }

  std::string Header() const {
    return DnnHeaderBeside((packages_ / "torch/lib/libtorch_cuda.so").string());
  }
  void Write(const std::string& text) const { std::ofstream(Header()) << text; }

  std::filesystem::path packages_;
};

TEST_F(DnnVersionTest, HeaderOfTheWheelStatesIt) {
  Write(
      "#ifndef CUDNN_VERSION_H_\n#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 24\n"
      "#define CUDNN_PATCHLEVEL 1\n#define CUDNN_VERSION (CUDNN_MAJOR * 10000)\n");
  EXPECT_EQ(StatedDnnVersion(Header()), 92401u);
}

TEST_F(DnnVersionTest, HeaderWithoutAVersionStatesNone) {
  EXPECT_EQ(StatedDnnVersion(Header()), std::nullopt) << "there is no file";
  Write("#define CUDNN_MAJOR 9\n#define CUDNN_MINOR none\n");
  EXPECT_EQ(StatedDnnVersion(Header()), std::nullopt);
}

TEST_F(DnnVersionTest, ProcessWithoutTorchGetsTheOneThatWasCompiled) {
  EXPECT_EQ(DnnVersion(), static_cast<std::size_t>(CUDNN_VERSION));
}

}  // namespace
}  // namespace memtrace::card
