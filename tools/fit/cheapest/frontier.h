// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CHEAPEST_FRONTIER_H_
#define MEMTRACE_TOOLS_FIT_CHEAPEST_FRONTIER_H_

#include <cstdint>
#include <vector>

#include "tools/fit/answer/answer.h"

namespace memtrace::fit {

// The memory and the time of a run of the program, with or without changes.
struct FrontierPoint {
  std::vector<Candidate> changes;  // empty: the unchanged program
  uint64_t needs = 0;              // bytes of the card that is short of most
  uint64_t reserved = 0;           // bytes that torch reserved there
  double time = 1;                 // of a step, estimated, as a ratio to the unchanged program's
  bool fits = false;               // the card, or with `has_margin` the smaller card
  bool has_margin = false;
  bool may_change_results = false;
  bool takes_another_card = false;
  bool is_plan = false;  // the cheapest plan that keeps the margin
  // True if no other run needs less memory and no more time, of those that come at no price if this
  // one comes at none.
  bool is_on_frontier = false;

  // True if it may change results, or takes another card.
  bool has_price() const { return may_change_results || takes_another_card; }
};

// Returns a point for each set of changes whose memory and time are known, by time; none if the
// program fits as it is, or if the time of a step is not known.
std::vector<FrontierPoint> FrontierOf(const Answer& answer);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CHEAPEST_FRONTIER_H_
