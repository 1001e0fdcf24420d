// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"

namespace memtrace::command {

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return absl::NotFoundError("cannot read " + path + " (" + std::strerror(errno) + ")");
  std::string bytes;
  struct stat facts {};
  if (fstat(descriptor, &facts) == 0 && facts.st_size > 0)
    bytes.reserve(static_cast<size_t>(facts.st_size) + 1);
  std::string room(1 << 20, '\0');
  ssize_t got = 0;
  while ((got = read(descriptor, room.data(), room.size())) > 0 || (got < 0 && errno == EINTR)) {
    if (got > 0) bytes.append(room, 0, static_cast<size_t>(got));
  }
  const int error = errno;
  close(descriptor);
  if (got < 0)
    return absl::UnavailableError("cannot read " + path + " (" + std::strerror(error) + ")");
  if (bytes.empty()) return absl::InvalidArgumentError(path + " is empty");
  return bytes;
}

}  // namespace memtrace::command
