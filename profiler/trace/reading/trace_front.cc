// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/trace_front.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "profiler/trace/coding/format.h"
#include "profiler/trace/coding/record_decoder.h"
#include "profiler/trace/reading/block_scan.h"
#include "profiler/trace/reading/file_bytes.h"
#include "profiler/trace/reading/summary_reader.h"

namespace memtrace::trace {
namespace {

// The facts stand before the summaries. Of a file without summaries so much is read.
constexpr uint64_t kInfoBytes = 64 << 10;
constexpr uint64_t kMostInfoBytes = 4 << 20;  // a larger offset is damage

absl::StatusOr<std::vector<uint8_t>> ReadBeginning(int fd, uint64_t bytes,
                                                   const std::string& path) {
  std::vector<uint8_t> beginning(bytes);
  const ssize_t got = pread(fd, beginning.data(), beginning.size(), 0);
  if (got < 0) return absl::ErrnoToStatus(errno, "cannot read " + path);
  beginning.resize(static_cast<size_t>(got));
  return beginning;
}

void AddFacts(const Block& block, std::map<std::string, std::string>& info) {
  DeltaState unused;
  for (auto record = NextRecord(block.records, block.end); record;
       record = NextRecord(record->end, block.end)) {
    if (record->kind != RecordKind::kInfo) continue;
    RecordDecoder decoder(*record, unused);
    std::string_view key;
    std::string_view value;
    decoder.Text(key);
    decoder.Text(value);
    if (decoder.ok()) info.emplace(key, value);
  }
}

std::map<std::string, std::string> FactsIn(const std::vector<uint8_t>& beginning) {
  std::map<std::string, std::string> info;
  for (const Block& block : ScanBlocks(beginning.data(), beginning.size()).blocks) {
    if (block.header.kind == BlockKind::kInfo) AddFacts(block, info);
  }
  return info;
}

absl::StatusOr<TraceFront> Read(int fd, const std::string& path) {
  absl::StatusOr<std::vector<uint8_t>> beginning = ReadBeginning(fd, sizeof(FileHeader), path);
  if (!beginning.ok()) return beginning.status();
  MEMTRACE_RETURN_IF_ERROR(CheckTraceHeader(*beginning, path));
  FileHeader header;
  std::memcpy(&header, beginning->data(), beginning->size());
  const bool has_room = header.summary_offset != 0 && header.summary_offset <= kMostInfoBytes;
  beginning = ReadBeginning(fd, has_room ? header.summary_offset : kInfoBytes, path);
  if (!beginning.ok()) return beginning.status();
  struct stat facts {};
  if (fstat(fd, &facts) != 0) return absl::ErrnoToStatus(errno, "cannot read " + path);
  const auto file_bytes = static_cast<uint64_t>(facts.st_size);
  return TraceFront{.info = FactsIn(*beginning),
                    .summary = ReadSummary(fd, path),
                    .file_bytes = file_bytes,
                    .lost_events = header.lost_events,
                    .is_closed = header.closed_bytes != 0,
                    .end_missing = header.closed_bytes > file_bytes};
}

}  // namespace

absl::StatusOr<TraceFront> ReadTraceFront(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot open " + path);
  absl::StatusOr<TraceFront> front = Read(fd, path);
  close(fd);
  return front;
}

}  // namespace memtrace::trace
