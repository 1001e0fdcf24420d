// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/torch/torch_settings.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace memtrace::replay {
namespace {

// Splits "a:1,b:[c:2,d:3]" into pairs of key and value; a comma or colon in brackets belongs to the
// value.
std::vector<std::pair<std::string, std::string>> Pairs(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::string key;
  std::string word;
  int depth = 0;
  const auto end_pair = [&] {
    if (!key.empty()) pairs.emplace_back(key, word);
    key.clear();
    word.clear();
  };
  for (const char c : text) {
    if (c == ' ' || c == '\t') continue;
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == ':' && depth == 0 && key.empty()) {
      key.swap(word);
    } else if (c == ',' && depth == 0) {
      end_pair();
    } else {
      word += c;
    }
  }
  end_pair();
  return pairs;
}

using Divisions = std::array<Bytes, 16>;

size_t PlaceOf(Bytes mebibytes) {
  const auto power = static_cast<size_t>(std::bit_width(mebibytes | 1)) - 1;
  return std::min(power, std::tuple_size_v<Divisions> - 1);
}

// Reads one number for all sizes, or "[256:1,512:2,>:4]": the first also holds below its size in
// MiB, the others for their own size alone, and ">" for all above the last.
Divisions ReadDivisions(std::string_view value) {
  Divisions divisions{};
  Bytes number = 0;
  if (absl::SimpleAtoi(std::string(value), &number)) {
    divisions.fill(number);
    return divisions;
  }
  if (value.size() < 2) return divisions;
  auto next = divisions.begin();
  for (const auto item : absl::StrSplit(std::string(value.substr(1, value.size() - 2)), ',')) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(item, absl::MaxSplits(':', 1));
    Bytes size = 0;
    if (!absl::SimpleAtoi(pair.second, &number)) return divisions;
    if (pair.first == ">") {
      std::fill(next, divisions.end(), number);
      return divisions;
    }
    if (!absl::SimpleAtoi(pair.first, &size)) return divisions;
    const auto place = divisions.begin() + static_cast<std::ptrdiff_t>(PlaceOf(size));
    if (next == divisions.begin()) std::fill(next, place, number);
    *place = number;
    next = place + 1;
  }
  return divisions;
}

Bytes Mebibytes(const std::string& value, Bytes otherwise) {
  Bytes number = 0;
  return absl::SimpleAtoi(value, &number) ? number << 20 : otherwise;
}

}  // namespace

bool TorchSettings::HasOldestSegmentFirst(std::string_view torch_version) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(torch_version), '.');
  int major = 0;
  int minor = 0;
  if (parts.size() < 2 || !absl::SimpleAtoi(parts[0], &major)) return false;
  return absl::SimpleAtoi(parts[1], &minor) && std::pair(major, minor) >= std::pair(2, 13);
}

TorchSettings TorchSettings::Parse(std::string_view text) {
  TorchSettings settings;
  for (const auto& [key, value] : Pairs(text)) {
    if (key == "expandable_segments") settings.expands = value == "True";
    if (key == "max_split_size_mb") settings.max_split = Mebibytes(value, settings.max_split);
    if (key == "max_non_split_rounding_mb")
      settings.max_non_split_rounding = Mebibytes(value, settings.max_non_split_rounding);
    if (key == "large_segment_size_mb")
      settings.large_segment = Mebibytes(value, settings.large_segment);
    if (key == "garbage_collection_threshold")
      settings.gc_threshold =
          absl::SimpleAtod(value, &settings.gc_threshold) ? settings.gc_threshold : 0;
    if (key == "per_process_memory_fraction")
      settings.fraction = absl::SimpleAtod(value, &settings.fraction) ? settings.fraction : 1;
    if (key == "roundup_power2_divisions") settings.divisions = ReadDivisions(value);
  }
  return settings;
}

Bytes TorchSettings::Rounded(Bytes requested) const {
  if (requested <= kUnit) return kUnit;
  const Bytes steps = divisions[PlaceOf(requested >> 20)];
  if (steps > 1 && requested > kUnit * steps) {
    const Bytes step = std::bit_floor(requested) / steps;
    return RoundUp(requested, step);  // a step is at least a unit
  }
  return RoundUp(requested, kUnit);
}

Bytes TorchSettings::SegmentFor(Bytes rounded) const {
  if (IsSmall(rounded)) return kSmallSegment;
  if (rounded < kLeastOwnSegment) return large_segment;
  return RoundUp(rounded, kSegmentUnit);
}

bool TorchSettings::Suits(Bytes rounded, Bytes free) const {
  if (rounded < max_split) return free < max_split;
  return free < rounded + max_non_split_rounding;
}

bool TorchSettings::Splits(Bytes rounded, Bytes free, bool is_small) const {
  const Bytes rest = free - rounded;
  if (is_small || expands) return rest >= kUnit;
  return rounded < max_split && rest > kLargestSmall;
}

}  // namespace memtrace::replay
