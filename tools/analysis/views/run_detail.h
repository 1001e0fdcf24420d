// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VIEWS_RUN_DETAIL_H_
#define MEMTRACE_TOOLS_ANALYSIS_VIEWS_RUN_DETAIL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/analysis/explanation.h"
#include "tools/analysis/views/piece_table.h"
#include "tools/analysis/views/usage_curve.h"
#include "tools/analysis/views/usage_groups.h"

namespace memtrace::analysis {

// A range of addresses that had memory, or was reserved.
struct AddressRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t from = 0;   // event
  uint64_t until = 0;  // event; 0: to the end
};

// Limits on how much of a run is kept.
struct DetailLimits {
  size_t columns = 1500;  // about; a few more around failures
  size_t levels = 24'000;
  size_t pieces = 800'000;  // blocks of all cards, beside those around failures and the peak
  size_t clock = 50'000;    // points, besides those
  size_t keys = 12;         // of each way to tell bytes apart
  uint64_t around = 2'000;  // events before and after a failure or peak, each of them kept
  size_t failures = 6;      // the last ones, which are kept like that
  std::vector<uint64_t> moments = {};  // other events that are kept like that
};

struct ClockPoint {
  uint64_t event = 0;
  uint64_t ns = 0;
};

struct CardDetail {
  int32_t index = 0;
  UsageCurve curve;
  UsageGroups by_owner;
  UsageGroups by_module;
  UsageGroups by_line;
  PieceChoice choice;
  std::vector<Piece> pieces;
  std::vector<AddressRange> mapped;  // by event, then by address
  std::vector<AddressRange> reserved;
};

// A run in as much detail as a page can draw.
struct RunDetail {
  explicit RunDetail(const EventSource& source) : origins(source) {}

  Origins origins;                // of the pieces; others may be among them
  std::vector<ClockPoint> clock;  // some events, the last one, and all in exact ranges
  std::vector<CardDetail> cards;  // as in the explanation
};

// Returns the detail of the explanation's cards. Reads the source once, and twice more for each
// card.
RunDetail DetailOf(const EventSource& source, const Explanation& explanation,
                   const DetailLimits& limits = {});

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VIEWS_RUN_DETAIL_H_
