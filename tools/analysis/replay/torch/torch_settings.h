// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_SETTINGS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_SETTINGS_H_

#include <array>
#include <cstddef>
#include <string_view>

#include "base/units.h"

namespace memtrace::replay {

// The rules by which torch's own allocator rounds, splits and grows, from PYTORCH_CUDA_ALLOC_CONF,
// its documentation and docs/design/replay.md. A value, without state.
struct TorchSettings {
  static constexpr Bytes kUnit = 512;
  static constexpr Bytes kLargestSmall = 1_MiB;
  static constexpr Bytes kSmallSegment = 2_MiB;
  static constexpr Bytes kLeastOwnSegment = 10_MiB;  // from here on, a segment fits its request
  static constexpr Bytes kSegmentUnit = 2_MiB;
  static constexpr Bytes kNoLimit = ~Bytes{0};

  bool expands = false;
  Bytes max_split = kNoLimit;
  Bytes max_non_split_rounding = 20_MiB;
  Bytes large_segment = 20_MiB;
  // True if, among free blocks of one size, that of the segment which was requested first is taken,
  // not that of the lowest address: since torch 2.13 (pytorch#183591).
  bool oldest_segment_first = false;
  double gc_threshold = 0;
  double fraction = 1;
  // The steps between two powers of two, by the power: [0] below 2 MiB, then one each, [15] the
  // rest; 0 and 1: off.
  std::array<Bytes, 16> divisions{};

  // Parses the text of PYTORCH_CUDA_ALLOC_CONF. A setting that is missing or invalid keeps its
  // default.
  static TorchSettings Parse(std::string_view text);

  // True if torch of that version ("2.13.0+cu130") has `oldest_segment_first`; false for a text
  // that is no version.
  static bool HasOldestSegmentFirst(std::string_view torch_version);

  Bytes Rounded(Bytes requested) const;
  static bool IsSmall(Bytes rounded) { return rounded <= kLargestSmall; }
  Bytes SegmentFor(Bytes rounded) const;  // requested from the driver if segments do not expand
  Bytes ChunkFor(bool is_small) const { return is_small ? kSmallSegment : large_segment; }
  // True if a request may have a free block of so many bytes.
  bool Suits(Bytes rounded, Bytes free) const;
  // True if what a block of `free` bytes has more than the request becomes a block of its own.
  bool Splits(Bytes rounded, Bytes free, bool is_small) const;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_TORCH_TORCH_SETTINGS_H_
