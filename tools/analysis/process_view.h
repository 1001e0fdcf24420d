// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_PROCESS_VIEW_H_
#define MEMTRACE_TOOLS_ANALYSIS_PROCESS_VIEW_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"

// The processes of a job beside each other, each by its own trace.
namespace memtrace::analysis {

// The first failed request of a process.
struct FirstFailure {
  uint64_t time_ns = 0;  // since the process's trace began
  uint64_t job_ns = 0;   // since the first trace of the job began: ArrangeProcesses
  Verdict verdict;
  Position at;
};

// The view that one trace gives of its process; if it has several cards, of the fullest.
struct ProcessView {
  std::string file;
  std::string unreadable;  // a sentence; then nothing but what stands above is known
  RunFacts run;
  uint64_t failures = 0;
  std::optional<FirstFailure> first_failure;
  int32_t card = 0;
  uint64_t card_bytes = 0;  // 0: not known
  uint64_t peak = 0;        // requested bytes
  Position peak_at;
  std::vector<Share> by_role;            // of the peak
  std::map<int32_t, uint64_t> contexts;  // bytes, by card, of those on which it has one

  bool is_readable() const { return unreadable.empty(); }
  uint64_t context_bytes() const;  // on all cards
};

// Explains the first failed request, or the peak if none failed. Reads the source up to three
// times.
Explanation ExplainFirstFailure(const EventSource& source);

// Returns the view of a process. `explanation` is the result of ExplainFirstFailure().
ProcessView ViewOf(const Explanation& explanation, const RunFacts& run);

// Sorts the processes by rank, then by file, and sets when each failed in the time of the job. A
// process whose start is not known is assumed to have begun with the first.
void ArrangeProcesses(std::vector<ProcessView>& views);

// Returns the process that failed first by the clock; nothing if none failed. REQUIRES: they are
// arranged.
std::optional<size_t> FirstToFail(const std::vector<ProcessView>& views);

// A process whose peak is far from the others'.
struct Outlier {
  size_t process = 0;
  uint64_t median = 0;  // of all peaks
  // Differences from the median of each role, largest first.
  std::vector<std::pair<std::string, int64_t>> roles;
};

// Returns the processes whose peak is further from the median than 3 times the median of all
// distances and than 5 percent of the median. Returns none for fewer than three processes.
std::vector<Outlier> FindOutliers(const std::vector<ProcessView>& views);

// Returns the ranks of the job that were started and have no readable trace, ascending.
std::vector<uint64_t> MissingRanks(const std::vector<ProcessView>& views);

// Returns the number of ranks of the job that were not started (memtrace run --ranks).
uint64_t VirtualRanks(const std::vector<ProcessView>& views);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PROCESS_VIEW_H_
