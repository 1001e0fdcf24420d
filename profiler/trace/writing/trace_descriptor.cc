// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/trace_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace memtrace::trace {

TraceDescriptor::TraceDescriptor(int fd, std::string path) : fd_(fd), path_(std::move(path)) {
  struct stat facts {};
  if (fstat(fd_, &facts) != 0) return;
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
}

bool TraceDescriptor::IsOurs(const struct stat& facts) const {
  return facts.st_dev == device_ && facts.st_ino == inode_;
}

bool TraceDescriptor::IsOurs() const {
  struct stat facts {};
  return fd_ >= 0 && fstat(fd_, &facts) == 0 && IsOurs(facts);
}

absl::Status TraceDescriptor::Closed() const {
  return absl::FailedPreconditionError("the program closed the descriptor of the trace " + path_);
}

// Growing past RLIMIT_FSIZE would raise SIGXFSZ, which kills a program that does not expect it. And
// nobody could read what is written into a deleted file.
absl::Status TraceDescriptor::CheckLength(uint64_t bytes) const {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      bytes > limit.rlim_cur) {
    return Failure("cannot extend the trace ", EFBIG);
  }
  struct stat facts {};
  if (fstat(fd_, &facts) != 0 || !IsOurs(facts)) return Closed();
  if (facts.st_nlink == 0) return absl::NotFoundError("the trace " + path_ + " was deleted");
  return absl::OkStatus();
}

absl::Status TraceDescriptor::WriteAll(const void* data, size_t bytes, uint64_t offset) const {
  if (!IsOurs()) return Closed();
  const auto* from = static_cast<const uint8_t*>(data);
  while (bytes > 0) {
    const ssize_t written = pwrite(fd_, from, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Failure("cannot write the trace ", written < 0 ? errno : EIO);
    from += written;
    bytes -= static_cast<size_t>(written);
    offset += static_cast<uint64_t>(written);
  }
  return absl::OkStatus();
}

int TraceDescriptor::AllocateOnDisk(uint64_t begin, uint64_t end) const {
  const auto bytes = static_cast<off_t>(end - begin);
  int error = 0;
  do {
    error = fallocate(fd_, 0, static_cast<off_t>(begin), bytes) == 0 ? 0 : errno;
  } while (error == EINTR);
  return error;
}

absl::Status TraceDescriptor::Failure(const char* doing, int error) const {
  return absl::ErrnoToStatus(error, doing + path_);
}

void TraceDescriptor::Close() {
  if (IsOurs()) close(fd_);
  fd_ = -1;
}

}  // namespace memtrace::trace
