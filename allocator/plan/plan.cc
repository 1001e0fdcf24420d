// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/plan/plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "allocator/blocks/size_policy.h"
#include "base/status_macros.h"

namespace memtrace {
namespace {

constexpr const char* kMagic = "memtrace-plan ";
constexpr const char* kSection = "section ";
constexpr uint64_t kMostCards = 1024;
constexpr uint64_t kMostStreams = 1024;

// Parses exactly N decimal numbers with one space between any two.
template <size_t N>
std::optional<std::array<uint64_t, N>> Numbers(std::string_view line) {
  std::array<uint64_t, N> numbers{};
  const char* at = line.data();
  const char* const end = at + line.size();
  for (size_t i = 0; i < N; ++i) {
    if (i > 0) {
      if (at == end || *at != ' ') return std::nullopt;
      ++at;
    }
    const auto [rest, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc{}) return std::nullopt;
    at = rest;
  }
  return at == end ? std::optional(numbers) : std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  absl::StatusOr<Plan> Run() {
    absl::Status status = ReadVersion();
    while (status.ok() && Next() && line_ != "end") status = ReadSection();
    if (!status.ok()) return status;
    if (line_ != "end") return ErrorInLine("the file ends early");
    if (!rest_.empty()) return ErrorInLine("there is more after the end");
    return std::move(plan_);
  }

 private:
  // Moves to the next line. Returns false at the end of the text; a last line without '\n' does not
  // count.
  bool Next() {
    const size_t length = rest_.find('\n');
    ++number_;
    line_ = rest_.substr(0, length == std::string_view::npos ? 0 : length);
    if (length == std::string_view::npos) return false;
    rest_.remove_prefix(length + 1);
    return true;
  }

  absl::Status ErrorInLine(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", number_, ": ", what));
  }

  template <size_t N>
  std::optional<std::array<uint64_t, N>> NumbersAfter(std::string_view word) const {
    if (!line_.starts_with(word)) return std::nullopt;
    return Numbers<N>(line_.substr(word.size()));
  }

  absl::Status ReadVersion() {
    const auto version = Next() ? NumbersAfter<1>(kMagic) : std::nullopt;
    if (!version.has_value()) return ErrorInLine("it is not a plan that memtrace plan wrote");
    if ((*version)[0] > Plan::kVersion) {
      return absl::FailedPreconditionError(
          absl::StrCat("the plan has version ", (*version)[0], ", which a later memtrace wrote"));
    }
    return (*version)[0] == Plan::kVersion ? absl::OkStatus()
                                           : ErrorInLine("the plan has an unknown version");
  }

  absl::Status ReadSection() {
    const auto head = NumbersAfter<5>(kSection);
    if (!head.has_value()) return ErrorInLine("it is neither a section nor the end");
    const auto [device, stream, bytes, prologue, cycle] = *head;
    if (device >= kMostCards || stream >= kMostStreams)
      return ErrorInLine("there is no such card or stream");
    if (prologue > Plan::kMostItems || cycle > Plan::kMostItems)
      return ErrorInLine("there are too many items");
    PlanSection section{
        static_cast<int32_t>(device), static_cast<uint32_t>(stream), bytes, prologue, {}};
    if (HasSection(section)) return ErrorInLine("the card and stream appear twice");
    MEMTRACE_RETURN_IF_ERROR(ReadItems(prologue + cycle, section));
    if (absl::Status status = Plan::Check(section); !status.ok())
      return ErrorInLine(std::string(status.message()));
    plan_.Add(std::move(section));
    return absl::OkStatus();
  }

  absl::Status ReadItems(size_t count, PlanSection& section) {
    // A line has at least 4 bytes, so a count that the text cannot hold reserves no memory.
    section.items.reserve(std::min(count, rest_.size() / 4));
    for (size_t i = 0; i < count; ++i) {
      const auto item = Next() ? Numbers<2>(line_) : std::nullopt;
      if (!item.has_value()) return ErrorInLine("a size and an offset are missing");
      section.items.push_back({(*item)[0], (*item)[1]});
    }
    return absl::OkStatus();
  }

  bool HasSection(const PlanSection& section) const {
    const auto& all = plan_.sections();
    return std::any_of(all.begin(), all.end(), [&](const PlanSection& other) {
      return other.device == section.device && other.stream == section.stream;
    });
  }

  std::string_view rest_;
  std::string_view line_;
  size_t number_ = 0;
  Plan plan_;
};

}  // namespace

absl::StatusOr<Plan> Plan::Parse(std::string_view text) { return Parser(text).Run(); }

absl::StatusOr<Plan> Plan::Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot open ", path));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return absl::DataLossError(absl::StrCat("cannot read ", path));
  absl::StatusOr<Plan> plan = Parse(text);
  if (plan.ok()) return plan;
  return absl::Status(plan.status().code(), absl::StrCat(path, ": ", plan.status().message()));
}

absl::Status Plan::Check(const PlanSection& section) {
  if (section.bytes > kMostBytes) return absl::InvalidArgumentError("no card has so many bytes");
  for (const PlanSection::Item& item : section.items) {
    if (item.size % kAllocationUnit != 0 || item.offset % kAllocationUnit != 0) {
      return absl::InvalidArgumentError("a size or an offset is not a multiple of 512");
    }
    if (IsSmall(item.size)) return absl::InvalidArgumentError("small blocks are not planned");
    if (item.size > section.bytes || item.offset > section.bytes - item.size) {
      return absl::InvalidArgumentError("an item ends outside the planned bytes");
    }
  }
  return absl::OkStatus();
}

std::string Plan::Text() const {
  std::string text = absl::StrCat(kMagic, kVersion, "\n");
  for (const PlanSection& section : sections_) {
    absl::StrAppend(&text, kSection, section.device, " ", section.stream, " ", section.bytes, " ",
                    section.prologue, " ", section.cycle(), "\n");
    for (const PlanSection::Item& item : section.items) {
      absl::StrAppend(&text, item.size, " ", item.offset, "\n");
    }
  }
  return text + "end\n";
}

const PlanSection* Plan::Find(DeviceIndex device, uint32_t stream) const {
  const bool is_any_card = HasOneCard();
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [&](const PlanSection& section) {
        const bool is_card = is_any_card || section.device == static_cast<int32_t>(device);
        return is_card && section.stream == stream && !section.items.empty();
      });
  return found == sections_.end() ? nullptr : &*found;
}

bool Plan::HasOneCard() const {
  return std::all_of(sections_.begin(), sections_.end(), [this](const PlanSection& section) {
    return section.device == sections_.front().device;
  });
}

}  // namespace memtrace
