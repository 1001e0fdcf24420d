// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/block_window.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::trace {
namespace {

class BlockWindowTest : public testing::Test {
 protected:
  BlockWindowTest() { EXPECT_EQ(ftruncate(fd_, 2 * BlockWindow::kBytes), 0); }
  ~BlockWindowTest() override { close(fd_); }

  TemporaryFolder folder_;
  const std::string path_ = folder_.File("run.trace");
  const int fd_ = open(path_.c_str(), O_RDWR | O_CREAT, 0600);
  BlockWindow window_;
};

TEST_F(BlockWindowTest, OnlyTheMappedBlocksAreInIt) {
  EXPECT_FALSE(window_.Contains(0));
  ASSERT_TRUE(window_.MoveTo(fd_, kBlockBytes));
  EXPECT_FALSE(window_.Contains(0));
  EXPECT_TRUE(window_.Contains(kBlockBytes));
  EXPECT_TRUE(window_.Contains(BlockWindow::kBytes));
  EXPECT_FALSE(window_.Contains(BlockWindow::kBytes + kBlockBytes));
  window_.Unmap();
  EXPECT_FALSE(window_.Contains(kBlockBytes));
}

TEST_F(BlockWindowTest, StoresStayInTheFileWhenItMovesOn) {
  ASSERT_TRUE(window_.MoveTo(fd_, 0));
  *window_.At(kBlockBytes) = 'a';
  ASSERT_TRUE(window_.MoveTo(fd_, BlockWindow::kBytes));
  *window_.At(BlockWindow::kBytes) = 'b';
  window_.Unmap();
  const std::string bytes = ReadBytes(path_);
  EXPECT_EQ(bytes[kBlockBytes], 'a');
  EXPECT_EQ(bytes[BlockWindow::kBytes], 'b');
}

TEST_F(BlockWindowTest, StaysIfTheFileCannotBeMapped) {
  ASSERT_TRUE(window_.MoveTo(fd_, 0));
  EXPECT_FALSE(window_.MoveTo(/*fd=*/-1, BlockWindow::kBytes));
  *window_.At(0) = 'a';
  EXPECT_EQ(ReadBytes(path_)[0], 'a');
}

}  // namespace
}  // namespace memtrace::trace
