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
#include "tools/analysis/source/event_source.h"
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

// The bytes that a process holds of one role at one site.
struct PeakHolder {
  trace::Role role = trace::Role::kUnknown;
  std::string site;
  std::string line;         // HolderLine::line of its largest part
  bool is_of_loss = false;  // a loss over words or classes made the largest part
  uint64_t bytes = 0;
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
  std::vector<Share> by_role;       // of the peak
  std::vector<PeakHolder> holders;  // of the peak, largest first
  std::optional<MicroBatchesInFlight> in_flight;
  std::map<std::string, uint64_t> layers;  // with parameters, by name: "layers.*"
  uint64_t allocated = 0;                  // the most ever, as torch counts it
  uint64_t reserved = 0;                   // the most ever
  // Bytes of the card that are neither free nor other processes': the most at the peak, when most
  // was reserved, and when most was allocated. Nothing without the card's size.
  std::optional<uint64_t> used;
  uint64_t nccl = 0;                     // of the card, at the peak or the failure
  std::map<int32_t, uint64_t> contexts;  // bytes, by card, of those on which it has one
  uint64_t cards = 0;                    // that the trace knows
  uint64_t steps = 0;                    // EventCounts::trained_steps; without phases those begun
  std::string exception;                 // the class that ended the program; empty: none known

  bool is_readable() const { return unreadable.empty(); }
  // False if the trace ends before the process did, so that it does not say how the run ended.
  bool end_is_known() const {
    return run.completeness.whole() && run.completeness.closed && run.repaired.empty();
  }
  uint64_t context_bytes() const;  // on all cards
};

// Explains the first failed request, or the peak if none failed. Reads the source up to three
// times.
Explanation ExplainFirstFailure(const EventSource& source);

// Returns the view of a process. `explanation` is the result of ExplainFirstFailure(source).
ProcessView ViewOf(const Explanation& explanation, const RunFacts& run, const EventSource& source);

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

// Returns the number of ranks that the traces state; 0 if they state none, or one that is not
// believed.
uint64_t WorldOf(const std::vector<ProcessView>& views);

// Returns the rank of the process; nothing if it has none.
std::optional<uint64_t> RankOf(const ProcessView& view);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_PROCESS_VIEW_H_
