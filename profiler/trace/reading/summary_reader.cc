// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/summary_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "base/status_macros.h"
#include "profiler/trace/coding/checksum.h"
#include "profiler/trace/coding/format.h"
#include "profiler/trace/reading/file_bytes.h"

namespace memtrace::trace {
namespace {

struct Summary {
  uint64_t sequence = 0;
  std::string text;
};

std::optional<Summary> SummaryIn(const uint8_t* block) {
  BlockHeader header;
  std::memcpy(&header, block, sizeof(header));
  if (header.magic != kBlockMagic || header.kind != BlockKind::kSummary) return std::nullopt;
  if (header.committed == 0 || header.committed > kSummaryBytes - sizeof(header)) {
    return std::nullopt;
  }
  const uint8_t* text = block + sizeof(header);
  if (header.checksum != BlockChecksum(header, text)) return std::nullopt;
  return Summary{.sequence = header.first_sequence,
                 .text = {reinterpret_cast<const char*>(text), header.committed}};
}

// While one of the two is written, the other one is complete. The process begins the next one only
// about a second later, so it does not change both between our reads.
std::optional<Summary> Newest(int fd, uint64_t offset) {
  std::vector<uint8_t> blocks(2 * kSummaryBytes);
  const ssize_t got = pread(fd, blocks.data(), blocks.size(), static_cast<off_t>(offset));
  if (got != static_cast<ssize_t>(blocks.size())) return std::nullopt;
  std::optional<Summary> first = SummaryIn(blocks.data());
  std::optional<Summary> second = SummaryIn(blocks.data() + kSummaryBytes);
  if (!first || (second && second->sequence > first->sequence)) return second;
  return first;
}

// True if the file ends before its summaries do.
bool IsCutShort(int fd, uint64_t offset) {
  char last = 0;
  return pread(fd, &last, 1, static_cast<off_t>(offset + 2 * kSummaryBytes - 1)) != 1;
}

}  // namespace

absl::StatusOr<std::string> ReadSummary(int fd, const std::string& path) {
  std::vector<uint8_t> beginning(sizeof(FileHeader));
  const ssize_t got = pread(fd, beginning.data(), beginning.size(), 0);
  if (got < 0) return absl::ErrnoToStatus(errno, "cannot read " + path);
  beginning.resize(static_cast<size_t>(got));
  MEMTRACE_RETURN_IF_ERROR(CheckTraceHeader(beginning, path));
  FileHeader header;
  std::memcpy(&header, beginning.data(), beginning.size());
  if (beginning.size() < sizeof(header) || header.summary_offset == 0) {
    return absl::NotFoundError(path +
                               " has no summary: it is cut short, or an older memtrace wrote it");
  }
  std::optional<Summary> summary = Newest(fd, header.summary_offset);
  if (!summary) {
    const char* const why = IsCutShort(fd, header.summary_offset)
                                ? "the file is cut short"
                                : "its process ended before it wrote one";
    return absl::NotFoundError(path + " has no summary: " + why);
  }
  return std::move(summary->text);
}

absl::StatusOr<std::string> ReadSummary(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot open " + path);
  absl::StatusOr<std::string> text = ReadSummary(fd, path);
  close(fd);
  return text;
}

}  // namespace memtrace::trace
