// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/status_macros.h"
#include "profiler/trace/coding/format.h"
#include "profiler/trace/reading/block_scan.h"

namespace memtrace::trace {
namespace {

constexpr size_t kReadBytes = 1 << 20;

absl::StatusOr<std::vector<uint8_t>> ReadOnce(int fd, const std::string& path) {
  lseek(fd, 0, SEEK_SET);
  struct stat facts {};
  const bool is_known = fstat(fd, &facts) == 0 && facts.st_size > 0;
  // One byte more than the size, so that the end of the file is found without growing the buffer.
  std::vector<uint8_t> bytes(is_known ? static_cast<size_t>(facts.st_size) + 1 : kReadBytes);
  size_t used = 0;
  while (true) {
    if (used == bytes.size()) bytes.resize(used + kReadBytes);
    const ssize_t got = read(fd, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EISDIR) {
      return absl::InvalidArgumentError(path + " is a directory, not a trace");
    }
    if (got < 0) return absl::ErrnoToStatus(errno, "cannot read " + path);
    used += static_cast<size_t>(got);
    if (got == 0) break;
  }
  bytes.resize(used);
  return bytes;
}

FileHeader HeaderOf(const std::vector<uint8_t>& bytes) {
  FileHeader header;
  std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof(header)));
  return header;
}

bool IsClosed(const std::vector<uint8_t>& bytes) { return HeaderOf(bytes).closed_bytes != 0; }

// For a file that drops its oldest blocks while it is read: a block that is overwritten meanwhile
// is neither the old nor the new one. Replaces such blocks, which were about to be dropped, by
// empty ones.
void ForgetTornBlocks(std::vector<uint8_t>& bytes) {
  for (const uint64_t offset : ScanBlocks(bytes.data(), bytes.size()).bad_offsets) {
    const BlockHeader empty{.capacity = kBlockBytes};
    if (bytes.size() - offset >= kBlockBytes) std::memcpy(&bytes[offset], &empty, sizeof(empty));
  }
}

// The first page shows if the file changed, because it names the newest block before that begins.
absl::StatusOr<std::vector<uint8_t>> ReadKept(int fd, std::vector<uint8_t> bytes) {
  FileHeader after;
  if (pread(fd, &after, sizeof(after), 0) != static_cast<ssize_t>(sizeof(after))) return bytes;
  if (after.newest_sequence != HeaderOf(bytes).newest_sequence) ForgetTornBlocks(bytes);
  return bytes;
}

// A single pass over a growing file may see a half-full block and then blocks that were begun
// later: a gap in the middle. So the file is read twice. All blocks of the first pass but the last
// are complete in the second, and blocks beyond the first pass are left out.
absl::StatusOr<std::vector<uint8_t>> ReadAll(int fd, const std::string& path) {
  absl::StatusOr<std::vector<uint8_t>> first = ReadOnce(fd, path);
  if (!first.ok() || first->size() < kPageBytes || IsClosed(*first)) return first;
  if (HeaderOf(*first).keep_bytes != 0) return ReadKept(fd, *std::move(first));
  const size_t used = ScanBlocks(first->data(), first->size()).used_bytes;
  first->clear();
  first->shrink_to_fit();
  absl::StatusOr<std::vector<uint8_t>> second = ReadOnce(fd, path);
  if (second.ok() && !IsClosed(*second)) second->resize(std::min(second->size(), used));
  return second;
}

// Recognises files that people mistake for traces, by their first bytes.
std::string GuessFileKind(const std::vector<uint8_t>& bytes) {
  const auto begins_with = [&](std::string_view text) {
    return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
  };
  if (bytes.empty()) return "the file is empty";
  if (bytes[0] == 0x80 && bytes.size() > 1 && bytes[1] <= 5) {
    return "it is a Python pickle (a torch memory snapshot?)";
  }
  if (begins_with("\x1f\x8b")) return "it is compressed with gzip";
  if (begins_with("\x28\xb5\x2f\xfd")) return "it is compressed with zstd";
  if (begins_with("{") || begins_with("[")) return "it looks like JSON";
  if (begins_with("\x7f"
                  "ELF"))
    return "it is a program or a library";
  return "it does not begin like one";
}

}  // namespace

absl::Status CheckTraceHeader(const std::vector<uint8_t>& bytes, const std::string& path) {
  if (bytes.size() < kFileMagic.size() ||
      !std::equal(kFileMagic.begin(), kFileMagic.end(), bytes.begin())) {
    return absl::InvalidArgumentError(path + " is not a memtrace trace: " + GuessFileKind(bytes));
  }
  FileHeader header;
  std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof(header)));
  if (header.version == 0) {
    return absl::InvalidArgumentError(path + " is damaged: format version 0 does not exist");
  }
  if (header.version < kOldestVersion) {
    return absl::FailedPreconditionError(
        path + " has format version " + std::to_string(header.version) +
        ", which is older than the first release; record it again");
  }
  if (header.version > kFormatVersion) {
    return absl::FailedPreconditionError(
        path + " has format version " + std::to_string(header.version) +
        "; this memtrace reads up to " + std::to_string(kFormatVersion) + "; use a newer one");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint8_t>> ReadTraceBytes(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot open " + path);
  absl::StatusOr<std::vector<uint8_t>> bytes = ReadAll(fd, path);
  close(fd);
  if (!bytes.ok()) return bytes;
  MEMTRACE_RETURN_IF_ERROR(CheckTraceHeader(*bytes, path));
  return bytes;
}

}  // namespace memtrace::trace
