// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_TRACE_DESCRIPTOR_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_TRACE_DESCRIPTOR_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace memtrace::trace {

// The open file of a trace. A program may close every open descriptor, as daemons do, and the next
// file that it opens gets the same number. So this checks the identity of its file, and touches no
// other.
//
// Errors: kFailedPrecondition if the program closed the descriptor; otherwise the system's reason,
// with the path. Thread rule: one thread at a time.
class TraceDescriptor {
 public:
  // Takes over `fd`, which must be open.
  TraceDescriptor(int fd, std::string path);
  ~TraceDescriptor() { Close(); }
  TraceDescriptor(const TraceDescriptor&) = delete;
  TraceDescriptor& operator=(const TraceDescriptor&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  bool is_open() const { return fd_ >= 0; }  // true until Close
  // True if the descriptor is open and still belongs to the trace.
  bool IsOurs() const;

  // Returns OK if the file may grow to `bytes` bytes. kNotFound if it was deleted.
  absl::Status CheckLength(uint64_t bytes) const;
  absl::Status WriteAll(const void* data, size_t bytes, uint64_t offset) const;
  // Allocates [begin, end) of the file on disk, so that no store into its pages meets a full disk.
  // Returns 0, or the system's error number.
  int AllocateOnDisk(uint64_t begin, uint64_t end) const;
  // Returns the system's error, with the failed action and the path.
  absl::Status Failure(const char* doing, int error) const;

  // Closes the file, unless the descriptor now belongs to another file.
  void Close();

 private:
  bool IsOurs(const struct stat& facts) const;
  absl::Status Closed() const;

  int fd_;
  std::string path_;
  dev_t device_ = 0;  // identity of the file that fd_ was opened for
  ino_t inode_ = 0;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_TRACE_DESCRIPTOR_H_
