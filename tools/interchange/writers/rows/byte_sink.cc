// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/rows/byte_sink.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace memtrace::interchange {
namespace {

constexpr size_t kBuffer = 1 << 20;

}  // namespace

void DescriptorSink::Write(std::string_view bytes) {
  if (error_ != 0) return;
  waiting_ += bytes;
  if (waiting_.size() >= kBuffer) Flush();
}

void DescriptorSink::Flush() {
  std::string_view rest = waiting_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  waiting_.clear();
}

absl::Status DescriptorSink::Close() {
  Flush();
  if (error_ == 0) return absl::OkStatus();
  const bool full = error_ == ENOSPC || error_ == EDQUOT || error_ == EFBIG;
  return {full ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kUnavailable,
          std::strerror(error_)};
}

}  // namespace memtrace::interchange
