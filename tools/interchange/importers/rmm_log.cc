// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/importers/rmm_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace memtrace::interchange {
namespace {

constexpr std::string_view kHeader = "Thread,Time,Action,Pointer,Size,Stream";
constexpr size_t kColumns = 6;
constexpr uint64_t kDay = 24ULL * 3600 * 1'000'000;  // in microseconds
constexpr uint64_t kLargest = uint64_t{1} << 60;     // bytes; more is no size

struct RmmLine {
  uint64_t time_us = 0;  // of the day
  std::string_view action;
  uint64_t pointer = 0;
  uint64_t size = 0;
  uint64_t stream = 0;
};

std::optional<uint64_t> Number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// printf writes a null pointer as "(nil)".
std::optional<uint64_t> Pointer(std::string_view text) {
  if (text == "(nil)" || text.empty()) return 0;
  if (text.starts_with("0x")) return Number(text);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Parses "14:05:23:123456" or "14:05:23.123456".
std::optional<uint64_t> TimeOfDay(std::string_view text) {
  std::array<uint64_t, 4> fields = {};
  for (size_t i = 0; i < fields.size(); ++i) {
    const size_t end = i + 1 < fields.size() ? text.find_first_of(":.") : text.size();
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = Number(text.substr(0, end));
    if (!number || *number > 999'999) return std::nullopt;
    fields[i] = *number;
    text.remove_prefix(i + 1 < fields.size() ? end + 1 : end);
  }
  if (fields[0] > 23 || fields[1] > 59 || fields[2] > 60) return std::nullopt;
  return ((fields[0] * 60 + fields[1]) * 60 + fields[2]) * 1'000'000 + fields[3];
}

std::optional<RmmLine> Parse(std::string_view line) {
  std::array<std::string_view, kColumns> fields;
  for (size_t i = 0; i < kColumns; ++i) {
    const size_t comma = i + 1 < kColumns ? line.find(',') : line.size();
    if (comma == std::string_view::npos) return std::nullopt;
    fields[i] = line.substr(0, comma);
    line.remove_prefix(i + 1 < kColumns ? comma + 1 : comma);
  }
  const auto time = TimeOfDay(fields[1]);
  const auto pointer = Pointer(fields[3]);
  const auto size = Number(fields[4]);
  const auto stream = Pointer(fields[5]);
  const bool known =
      fields[2] == "allocate" || fields[2] == "free" || fields[2] == "allocate failure";
  if (!time || !pointer || !size || !stream || !known || *size > kLargest) return std::nullopt;
  return RmmLine{*time, fields[2], *pointer, *size, *stream};
}

class RmmLog : public ImportedRun {
 public:
  explicit RmmLog(std::string_view lines) : lines_(lines) {
    const Extent whole = ForEachLine([this](const RmmLine&) { has_lines_ = true; });
    lines_ = lines_.substr(0, whole.bytes);
    if (whole.bad_line != 0) {
      fault_ = "line " + std::to_string(whole.bad_line) +
               (whole.is_cut ? " has no end: the file is cut short there"
                             : " is not \"thread,time,action,pointer,size,stream\"");
    }
    notes_.emplace_back("the log names no card, so all memory is shown on card 0");
  }

  bool has_lines() const { return has_lines_; }

  std::map<std::string, std::string> Info() const override { return {{"imported", "rmm"}}; }
  std::string_view String(trace::StringId id) const override { return names_.Text(id); }
  std::vector<trace::Frame> Stack(trace::StackId id) const override { return names_.Frames(id); }

  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    std::optional<uint64_t> first;
    uint64_t latest = 0;
    uint64_t sequence = 0;
    ForEachLine([&](const RmmLine& line) {
      uint64_t time = line.time_us;
      if (!first) first = time;
      while (time + kDay / 2 < latest) time += kDay;  // past midnight
      latest = std::max(latest, time);
      const uint64_t time_ns = (latest - *first) * 1000;
      const auto emit = [&](const trace::Payload& payload) {
        visit({++sequence, time_ns, payload});
      };
      if (line.action == "allocate") {
        emit(trace::Allocate{.address = line.pointer,
                             .requested = line.size,
                             .allocated = line.size,
                             .stream = line.stream});
      } else if (line.action == "free") {
        emit(trace::FreeRequested{.address = line.pointer});
        emit(trace::FreeCompleted{.address = line.pointer});
      } else {
        trace::OutOfMemory failed;
        failed.stream = line.stream;
        failed.requested = line.size;
        failed.allocated = line.size;
        emit(failed);
      }
    });
  }

 private:
  struct Extent {
    size_t bytes = 0;
    uint64_t bad_line = 0;  // behind them; 0: none
    bool is_cut = false;    // that line is cut short
  };

  template <typename Visit>
  Extent ForEachLine(const Visit& visit) const {
    size_t at = 0;
    for (uint64_t number = 2; at < lines_.size(); ++number) {
      const size_t end = std::min(lines_.find('\n', at), lines_.size());
      std::string_view text = lines_.substr(at, end - at);
      if (text.ends_with('\r')) text.remove_suffix(1);
      if (!text.empty()) {
        // If the end of the line is missing, a number in it may be shorter than it was.
        const bool is_cut = end == lines_.size();
        const auto line = Parse(text);
        if (!line || is_cut) return {at, number, is_cut};
        visit(*line);
      }
      at = std::min(end + 1, lines_.size());
    }
    return {at, 0};
  }

  std::string_view lines_;
  bool has_lines_ = false;
  ImportedNames names_;
};

}  // namespace

bool IsRmmLog(std::string_view beginning) { return beginning.substr(0, kHeader.size()) == kHeader; }

absl::StatusOr<std::unique_ptr<ImportedRun>> OpenRmmLog(std::string_view bytes) {
  const size_t header = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
  auto log = std::make_unique<RmmLog>(bytes.substr(header));
  if (log->has_lines()) return log;
  return absl::InvalidArgumentError(!log->fault().empty() ? log->fault()
                                                          : "the log has only its header line");
}

}  // namespace memtrace::interchange
