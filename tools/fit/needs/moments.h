// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_NEEDS_MOMENTS_H_
#define MEMTRACE_TOOLS_FIT_NEEDS_MOMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/explanation.h"
#include "tools/fit/needs/holder.h"

namespace memtrace::fit {

// A stay of a process in a moment of its job, as the annotation fit.moments has it.
struct MomentStay {
  std::string moment = {};  // a word of moments.def
  uint64_t first = 0;       // steps of the trace
  uint64_t last = 0;
  std::string ended_by = {};  // the class of the exception that ended it; or empty
  std::string failed_by_itself =
      {};                 // "ValueError at metrics.py:12": an exception that the trial caught
  std::string size = {};  // of its batch: "1,024 tokens"; or empty
  uint64_t batches = 0;   // seen; 0: not counted
  uint64_t of = 0;        // batches that the program has
  uint64_t growth = 0;    // bytes that each further batch takes

  bool Has(uint64_t step) const { return first <= step && step <= last; }
};

// Returns what the batches that were not seen take beside those that were, in bytes.
uint64_t UnseenBytes(const MomentStay& stay);

// Parses the annotation; returns none if the text is malformed.
std::vector<MomentStay> MomentStaysOf(std::string_view text);

// A stay with the peak of a card in it.
struct MomentPeak {
  MomentStay stay = {};
  int32_t card = 0;
  uint64_t needs = 0;  // bytes of the card: in use, context, outside torch, other processes
  Holder holder = {};  // the largest that was made in the moment, else the largest of all
};

// Returns the peaks of the stays that the trace has, for each card in use. Reads the source once,
// and twice for each stay. `explanation` is of the same source.
std::vector<MomentPeak> MomentPeaksOf(const analysis::EventSource& source,
                                      const analysis::Explanation& explanation);

// Returns the place among `stays` of the innermost that has the step: the one that began last.
// Returns -1 if none has it.
int64_t StayAt(const std::vector<MomentStay>& stays, uint64_t step);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_NEEDS_MOMENTS_H_
