// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/program/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"

namespace memtrace::command {
namespace {

constexpr size_t kPart = 1 << 20;

}  // namespace

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return absl::NotFoundError("cannot read " + path + " (" + std::strerror(errno) + ")");
  struct stat facts {};
  const bool has_size = fstat(descriptor, &facts) == 0 && facts.st_size > 0;
  // The buffer is one byte larger than the file, so that the last read finds its end.
  std::string bytes(has_size ? static_cast<size_t>(facts.st_size) + 1 : kPart, '\0');
  size_t filled = 0;
  ssize_t got = 0;
  while ((got = read(descriptor, bytes.data() + filled, bytes.size() - filled)) > 0 ||
         (got < 0 && errno == EINTR)) {
    if (got > 0) filled += static_cast<size_t>(got);
    if (filled == bytes.size()) bytes.resize(filled + kPart);
  }
  const int error = errno;
  close(descriptor);
  if (got < 0)
    return absl::UnavailableError("cannot read " + path + " (" + std::strerror(error) + ")");
  bytes.resize(filled);
  if (bytes.empty()) return absl::InvalidArgumentError(path + " is empty");
  return bytes;
}

}  // namespace memtrace::command
