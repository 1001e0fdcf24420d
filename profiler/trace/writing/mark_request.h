// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_MARK_REQUEST_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_MARK_REQUEST_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace memtrace::trace {

struct FileHeader;

// Asks the process that writes a trace to mark the present moment in it, through a word in the
// file's first page, which that process has mapped: it receives no signal and makes no system call.
class MarkRequest {
 public:
  // Errors: kPermissionDenied and others with the system's reason (the file cannot be written or
  // shared), kFailedPrecondition (its process has closed it, or an older memtrace writes it).
  static absl::StatusOr<MarkRequest> Make(const std::string& path);
  ~MarkRequest();
  MarkRequest(MarkRequest&& other) noexcept
      : header_(std::exchange(other.header_, nullptr)), number_(other.number_) {}
  MarkRequest& operator=(MarkRequest&&) = delete;

  uint64_t number() const { return number_; }  // counted from 1 in this trace
  bool is_made() const;

 private:
  MarkRequest(FileHeader* header, uint64_t number) : header_(header), number_(number) {}

  FileHeader* header_;  // mapped
  uint64_t number_;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_MARK_REQUEST_H_
