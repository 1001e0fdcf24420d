// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/mark_request.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "profiler/trace/coding/format.h"

namespace memtrace::trace {

absl::StatusOr<MarkRequest> MarkRequest::Make(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot write " + path);
  struct stat facts {};
  const bool is_there = fstat(fd, &facts) == 0 && facts.st_size >= static_cast<off_t>(kPageBytes);
  void* page =
      is_there ? mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const int error = is_there ? errno : ENODATA;
  close(fd);
  if (page == MAP_FAILED) return absl::ErrnoToStatus(error, "cannot share a page of " + path);
  auto* header = static_cast<FileHeader*>(page);
  if (header->magic != kFileMagic || header->closed_bytes != 0 || header->summary_offset == 0) {
    munmap(page, kPageBytes);
    return absl::FailedPreconditionError("the trace has ended, or an older memtrace writes it");
  }
  return MarkRequest(header, std::atomic_ref(header->marks_wanted).fetch_add(1) + 1);
}

MarkRequest::~MarkRequest() {
  if (header_ != nullptr) munmap(header_, kPageBytes);
}

bool MarkRequest::is_made() const {
  return std::atomic_ref(header_->marks_made).load(std::memory_order_acquire) >= number_;
}

}  // namespace memtrace::trace
