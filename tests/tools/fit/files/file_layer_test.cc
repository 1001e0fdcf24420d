// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/files/file_layer.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "tests/tools/fit/files/user_folders.h"
#include "tools/launch/child_process.h"

namespace memtrace::fit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kMiB = 1 << 20;

class FileLayerTest : public UserFolders {
 protected:
  // Runs a shell command in the user's folder, under a layer of `bytes`.
  LayerContents Run(const std::string& words, uint64_t bytes = 64 * kMiB) {
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(Path("user"));
    launch::LaunchPlan plan;
    plan.program = "/bin/sh";
    plan.arguments = {"sh", "-c", words};
    plan.environment = environment_;
    plan.log = Path("scratch/log").string();
    plan.seconds = 20;
    FileLayer layer(environment_, Path("scratch").string(), bytes);
    plan.prepare = [&layer](launch::Environment& set) { return layer.Enter(set); };
    const absl::StatusOr<launch::ExitStatus> status = launch::RunToEnd(plan);
    std::filesystem::current_path(before);
    EXPECT_TRUE(status.ok()) << status.status();
    EXPECT_EQ(status.ok() ? status->code : 0, 0) << Read("scratch/log");
    return layer.Contents().value_or(LayerContents());
  }
  void SetUp() override {
    const absl::StatusOr<FileKeeping> keeping = FindFileKeeping({}, Path("scratch").string());
    ASSERT_TRUE(keeping.ok());
    if (keeping->layer_bytes == 0) GTEST_SKIP() << keeping->why_no_layer;
  }
  std::string Name(const std::string& name) const { return Path(name).string(); }

  launch::Environment environment_ = {{"PATH", "/usr/bin:/bin"}};
};

TEST_F(FileLayerTest, OnlyTheRunSeesItsWrites) {
  const LayerContents contents =
      Run("echo gone > a && test $(cat a) = gone && rm b && ! test -e b && rm -r inner && "
          "mkdir new && echo x > new/d && cat new/d");
  EXPECT_EQ(Read("user/a"), "precious");
  EXPECT_EQ(Read("user/b"), "precious");
  EXPECT_EQ(Read("user/inner/c"), "precious");
  EXPECT_FALSE(std::filesystem::exists(Path("user/new")));
  EXPECT_EQ(Read("scratch/log"), "x\n");
  EXPECT_THAT(contents.names,
              ElementsAre(Name("user/a"), Name("user/b"), Name("user/inner"), Name("user/new/d")));
  EXPECT_FALSE(contents.is_full);
}

TEST_F(FileLayerTest, RunWithoutWritesLeavesNothing) {
  EXPECT_TRUE(Run("cat a inner/c > /dev/null; echo x > /dev/null").names.empty());
}

TEST_F(FileLayerTest, ScratchFolderAndCachesAreWrittenThrough) {
  environment_["SOME_CACHE_DIR"] = Path("user/inner").string();
  const LayerContents contents =
      Run("echo kept > ../scratch/trace && echo kept > inner/c && echo x > ../scratch/tmp/t");
  EXPECT_EQ(Read("scratch/trace"), "kept\n");
  EXPECT_EQ(Read("user/inner/c"), "kept\n");
  EXPECT_FALSE(std::filesystem::exists(Path("scratch/tmp/t")));
  EXPECT_TRUE(contents.names.empty());
}

TEST_F(FileLayerTest, WritesAreLimited) {
  const LayerContents contents =
      Run("! head -c 30000000 /dev/zero > big && ! test -e /tmp/no/such", 16 * kMiB);
  EXPECT_TRUE(contents.is_full);
  EXPECT_GE(contents.bytes, 16 * kMiB);
}

TEST_F(FileLayerTest, SocketsAndDevicesStayUsable) {
  const std::string name = Name("user/socket");
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(name.size(), sizeof(address.sun_path));
  std::memcpy(address.sun_path, name.c_str(), name.size());
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  Run("python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"" + name +
      "\")' && ls /proc/self/fd /dev/shm > /dev/null && head -c 1 /dev/urandom > /dev/null");
  close(listening);
}

TEST_F(FileLayerTest, NamesWithMountOptionCharactersWork) {
  std::filesystem::create_directory(Path("user/a,b:c\\d"));
  const LayerContents contents = Run("echo x > 'a,b:c\\d/e'");
  EXPECT_THAT(contents.names, ElementsAre(Name("user/a,b:c\\d/e")));
}

TEST(FileKeepingTest, LayerCanBeDisabledByTheEnvironment) {
  const auto keeping = FindFileKeeping({{"MEMTRACE_FIT_OVERLAY", "0"}}, "/tmp");
  ASSERT_TRUE(keeping.ok());
  EXPECT_EQ(keeping->layer_bytes, 0U);
  EXPECT_THAT(keeping->why_no_layer, HasSubstr("MEMTRACE_FIT_OVERLAY is 0"));
}

TEST(FileKeepingTest, InvalidAmountIsRejected) {
  for (const char* amount : {"lots", "1MiB", "-1"}) {
    const auto keeping = FindFileKeeping({{"MEMTRACE_FIT_OVERLAY", amount}}, "/tmp");
    EXPECT_EQ(keeping.status().code(), absl::StatusCode::kInvalidArgument) << amount;
  }
}

}  // namespace
}  // namespace memtrace::fit
