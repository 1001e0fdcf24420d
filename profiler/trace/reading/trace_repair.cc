// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/trace_repair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "base/units.h"
#include "profiler/trace/coding/checksum.h"
#include "profiler/trace/coding/format.h"
#include "profiler/trace/coding/record_encoder.h"
#include "profiler/trace/reading/block_scan.h"

namespace memtrace::trace {
namespace {

// Our own id: the writer's count up from 1, and ~0 is the reader's for the first page's reason.
constexpr StringId kReason = ~StringId{0} - 1;

uint32_t RoundUpToPages(size_t bytes) { return static_cast<uint32_t>(RoundUp(bytes, kPageBytes)); }

// The figures of the events, found by reading them all.
struct Extent {
  uint64_t events = 0;
  uint64_t missing = 0;  // in gaps
  uint64_t last_sequence = 0;
  uint64_t last_ns = 0;
  uint64_t last_offset = 0;  // in the file
};

Extent ExtentOf(const TraceReader& reader) {
  Extent extent;
  reader.ForEachAt([&](const Event& event, uint64_t offset) {
    const uint64_t next = extent.last_sequence + 1;
    if (extent.events++ > 0 && event.sequence > next) extent.missing += event.sequence - next;
    extent.last_sequence = std::max(extent.last_sequence, event.sequence);
    extent.last_ns = std::max(extent.last_ns, event.time_ns);
    extent.last_offset = std::max(extent.last_offset, offset);
  });
  // The sequence numbers of a block that was still open are not checked. A gap cannot have more
  // events than unread bytes, because each event takes at least one byte.
  extent.missing = std::min(extent.missing, reader.completeness().unread_bytes);
  return extent;
}

// True if the end is missing: no gap shows how many events were there.
bool EndIsMissing(const Completeness& completeness, const Extent& extent) {
  return completeness.truncated_bytes > 0 || completeness.first_bad_offset > extent.last_offset;
}

// Builds the repaired file, block by block.
class RepairedFile {
 public:
  explicit RepairedFile(const FileHeader& header) : header_(header), bytes_(kPageBytes) {}

  // Adds a block. In a file that keeps its last part, readers rely on newest_sequence.
  void Add(BlockHeader header, const uint8_t* records, size_t size) {
    if (header.kind != BlockKind::kSummary) header.capacity = RoundUpToPages(sizeof(header) + size);
    header.committed = static_cast<uint32_t>(size);
    header.checksum = BlockChecksum(header, records);
    const size_t begin = bytes_.size();
    bytes_.resize(begin + header.capacity);
    std::memcpy(&bytes_[begin], &header, sizeof(header));
    std::memcpy(&bytes_[begin + sizeof(header)], records, size);
    if (header_.keep_bytes != 0 && header.kind == BlockKind::kEvents)
      header_.newest_sequence = std::max(header_.newest_sequence, header.first_sequence);
  }

  // There are two adjacent summaries: a good one replaces a bad one.
  void AddSummaries(const std::vector<Block>& blocks) {
    std::vector<Block> good;
    for (const Block& block : blocks) {
      const bool is_one = block.header.kind == BlockKind::kSummary &&
                          block.header.capacity == kSummaryBytes && !block.is_cut;
      if (is_one && good.size() < 2) good.push_back(block);
    }
    const bool has_room = header_.summary_offset != 0 && !good.empty();
    header_.summary_offset = has_room ? bytes_.size() : 0;
    if (!has_room) return;
    for (const Block& block : {good.front(), good.back()}) Add(block);
  }

  void Add(const Block& block) {
    Add(block.header, block.records, static_cast<size_t>(block.end - block.records));
  }

  // Writes the file. If the process never closed the trace, it remains open.
  absl::Status Write(const std::string& path) {
    if (header_.closed_bytes != 0) header_.closed_bytes = bytes_.size();
    std::memcpy(bytes_.data(), &header_, sizeof(header_));
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes_.data()),
               static_cast<std::streamsize>(bytes_.size()));
    file.close();
    return file ? absl::OkStatus() : absl::UnavailableError(std::strerror(errno));
  }

 private:
  FileHeader header_;
  std::vector<uint8_t> bytes_;
};

// Builds a block.
class Records {
 public:
  explicit Records(const Extent& extent)
      : extent_(extent), delta_{.sequence = extent.last_sequence} {}

  void AddInfo(std::string_view key, std::string_view value) {
    RecordEncoder record(RecordKind::kInfo, end_, delta_);
    record.Text(key);
    record.Text(value.substr(0, kMaxStringBytes));
    end_ = record.Finish();
  }
  void AddLoss(uint64_t events) {
    RecordEncoder name(RecordKind::kString, end_, delta_);
    name.Number(kReason);
    name.Text("the trace was damaged");
    RecordEncoder record(KindOf<Lost>(), name.Finish(), delta_);
    record.Moment(extent_.last_sequence + 1, extent_.last_ns);
    const Lost lost{.events = events, .reason = kReason};
    CodeFields(record, lost);
    end_ = record.Finish();
  }
  void AddTo(RepairedFile& file, const BlockHeader& header) const {
    file.Add(header, records_.data(), static_cast<size_t>(end_ - records_.data()));
  }

 private:
  const Extent& extent_;
  DeltaState delta_;
  std::vector<uint8_t> records_ = std::vector<uint8_t>(2 * kMaxStringBytes);
  uint8_t* end_ = records_.data();
};

}  // namespace

absl::StatusOr<Repair> RepairTrace(const TraceReader& damaged, std::string_view statement,
                                   const std::string& path) {
  const Extent extent = ExtentOf(damaged);
  RepairedFile file(damaged.header());
  file.AddSummaries(damaged.blocks());
  for (const Block& block : damaged.blocks())
    if (block.header.kind != BlockKind::kSummary) file.Add(block);
  Repair repair{.kept_events = extent.events, .lost_events = extent.missing};
  if (repair.lost_events == 0 && EndIsMissing(damaged.completeness(), extent))
    repair.lost_events = 1;
  Records facts(extent);
  facts.AddInfo("repaired", statement);
  facts.AddTo(file, {.kind = BlockKind::kInfo});
  if (repair.lost_events > 0) {
    Records events(extent);
    events.AddLoss(repair.lost_events);
    events.AddTo(file, {.kind = BlockKind::kEvents, .first_sequence = extent.last_sequence + 1});
  }
  MEMTRACE_RETURN_IF_ERROR(file.Write(path));
  return repair;
}

}  // namespace memtrace::trace
