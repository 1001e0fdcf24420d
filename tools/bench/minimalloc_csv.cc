// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/minimalloc_csv.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/bench/recorded_requests.h"

namespace memtrace::bench {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 46;  // 64 TiB; more would only be a damaged file

struct Columns {
  size_t lower = 0;
  size_t upper = 0;
  size_t size = 0;
};

struct Buffer {
  int64_t lower = 0;
  int64_t upper = 0;
  uint64_t size = 0;
};

// The beginning or the end of a buffer.
struct Moment {
  int64_t time = 0;
  bool is_allocation = false;
  size_t buffer = 0;
};

std::vector<std::string> Cells(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return absl::StrSplit(absl::string_view(line.data(), line.size()), ',');
}

std::optional<Columns> ColumnsOf(std::string_view title) {
  const std::vector<std::string> names = Cells(title);
  const auto place = [&names](std::string_view name, std::string_view other) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& each) {
      return each == name || each == other;
    });
    return static_cast<size_t>(found - names.begin());
  };
  const Columns columns{place("lower", "begin"), place("upper", "end"), place("size", "size")};
  const bool are_there = std::max({columns.lower, columns.upper, columns.size}) < names.size();
  return are_there && place("id", "buffer_id") < names.size() ? std::optional(columns)
                                                              : std::nullopt;
}

std::optional<Buffer> BufferOf(std::string_view line, const Columns& columns) {
  const std::vector<std::string> cells = Cells(line);
  Buffer buffer;
  const bool is_read = std::max({columns.lower, columns.upper, columns.size}) < cells.size() &&
                       absl::SimpleAtoi(cells[columns.lower], &buffer.lower) &&
                       absl::SimpleAtoi(cells[columns.upper], &buffer.upper) &&
                       absl::SimpleAtoi(cells[columns.size], &buffer.size);
  const bool is_valid = is_read && buffer.lower < buffer.upper && buffer.size <= kMostBytes;
  return is_valid ? std::optional(buffer) : std::nullopt;
}

RequestSequence InTime(const std::vector<Buffer>& buffers) {
  std::vector<Moment> moments;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].size == 0) continue;
    moments.push_back({buffers[i].lower, true, i});
    moments.push_back({buffers[i].upper, false, i});
  }
  std::stable_sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
    return a.time != b.time ? a.time < b.time : a.is_allocation < b.is_allocation;
  });
  SequenceBuilder builder;
  std::vector<uint32_t> blocks(buffers.size());
  for (const Moment& moment : moments) {
    if (moment.is_allocation) {
      blocks[moment.buffer] = builder.Allocate(buffers[moment.buffer].size, 0);
    } else {
      builder.Free(blocks[moment.buffer]);
    }
  }
  return builder.Finish();
}

}  // namespace

bool IsMiniMallocCsv(std::string_view beginning) {
  return ColumnsOf(beginning.substr(0, beginning.find('\n'))).has_value();
}

absl::StatusOr<RequestSequence> ReadMiniMallocCsv(std::string_view text) {
  const std::vector<std::string> lines =
      absl::StrSplit(absl::string_view(text.data(), text.size()), '\n');
  const std::optional<Columns> columns = ColumnsOf(lines.front());
  if (!columns) return absl::InvalidArgumentError("line 1 does not name id, lower, upper and size");
  std::vector<Buffer> buffers;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty() || lines[i] == "\r") continue;
    const std::optional<Buffer> buffer = BufferOf(lines[i], *columns);
    if (!buffer)
      return absl::InvalidArgumentError(
          absl::StrCat("line ", i + 1, " is not a buffer with lower < upper and a size"));
    buffers.push_back(*buffer);
  }
  return InTime(buffers);
}

}  // namespace memtrace::bench
