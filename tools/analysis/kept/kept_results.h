// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_KEPT_RESULTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_KEPT_RESULTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Results of earlier passes that a container of the program keeps on the card, as
// predictions.append(model(x)) does. A smaller batch frees none of them, because it makes more
// passes, whose results are kept as well.
struct KeptResults {
  uint64_t bytes = 0;
  std::string name;              // of the container: "predictions"; empty if it is not known
  std::string kind;              // "list"
  std::string place;             // "evaluate, test.py"
  std::string line;              // of the user's that made most: "test.py:14"
  bool has_graphs = false;       // gradients were on, so what made the results is kept as well
  std::set<uint64_t> sequences;  // of the blocks
};

// The moment at which results are looked for.
struct ResultsMoment {
  const std::vector<CapturedBlock>& captured;  // the blocks of the card
  Position at;
  int32_t device = 0;
  const Annotations& annotations;
  bool is_failure = false;
  std::vector<trace::Frame> request_stack;  // empty without a failed request
};

// Finds the blocks that passes of a step without a backward made again and again. At a failure the
// hooks name the container, and without one there are no such results. At a peak it is not known,
// and they are found only in an evaluation.
std::optional<KeptResults> FindKeptResults(const ResultsMoment& moment, const LiveSet& live,
                                           const EventSource& source);

// Returns the blocks that are no such results: these are not temporary, even if they are gone when
// the phase is over.
std::vector<CapturedBlock> WithoutResults(std::vector<CapturedBlock> blocks,
                                          const std::optional<KeptResults>& results,
                                          const LiveSet& live);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_KEPT_RESULTS_H_
