// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/trace_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::trace {
namespace {

class TraceDescriptorTest : public testing::Test {
 protected:
  static int Open(const std::string& path) { return open(path.c_str(), O_RDWR | O_CREAT, 0600); }
  // Does as a program that closes all open descriptors and then opens a file of its own.
  void GiveNumberToAnother() {
    close(file_.fd());
    ASSERT_EQ(dup2(Open(other_), file_.fd()), file_.fd());
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.File("run.trace");
  const std::string other_ = folder_.File("other");
  TraceDescriptor file_{Open(path_), path_};
};

TEST_F(TraceDescriptorTest, BytesAreWrittenAtTheirOffset) {
  ASSERT_TRUE(file_.WriteAll("abc", 3, 0).ok());
  ASSERT_TRUE(file_.WriteAll("xy", 2, 5).ok());
  EXPECT_EQ(ReadBytes(path_), std::string("abc\0\0xy", 7));
}

TEST_F(TraceDescriptorTest, FileThatTookOurDescriptorIsNotTouched) {
  GiveNumberToAnother();
  EXPECT_FALSE(file_.IsOurs());
  EXPECT_TRUE(file_.is_open());
  EXPECT_TRUE(absl::IsFailedPrecondition(file_.WriteAll("abc", 3, 0)));
  EXPECT_TRUE(absl::IsFailedPrecondition(file_.CheckLength(1)));
  const int fd = file_.fd();
  file_.Close();
  EXPECT_NE(fcntl(fd, F_GETFD), -1) << "it is the program's";
  EXPECT_EQ(ReadBytes(other_), "");
  close(fd);
}

TEST_F(TraceDescriptorTest, DescriptorClosedByTheProgramIsNotOurs) {
  close(file_.fd());
  EXPECT_FALSE(file_.IsOurs());
  const absl::Status status = file_.WriteAll("abc", 3, 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_NE(std::string(status.message()).find(path_), std::string::npos);
}

TEST_F(TraceDescriptorTest, DeletedFileMayNotGrow) {
  EXPECT_TRUE(file_.CheckLength(100).ok());
  unlink(path_.c_str());
  EXPECT_TRUE(absl::IsNotFound(file_.CheckLength(100)));
  EXPECT_TRUE(file_.IsOurs());
}

TEST_F(TraceDescriptorTest, OwnFileIsClosed) {
  const int fd = file_.fd();
  file_.Close();
  EXPECT_FALSE(file_.is_open());
  EXPECT_FALSE(file_.IsOurs());
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

TEST_F(TraceDescriptorTest, FailureHasTheSystemsReasonAndThePath) {
  const absl::Status status = file_.Failure("cannot extend the trace ", ENOSPC);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_NE(std::string(status.message()).find("cannot extend the trace " + path_),
            std::string::npos);
}

}  // namespace
}  // namespace memtrace::trace
