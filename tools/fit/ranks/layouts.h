// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_RANKS_LAYOUTS_H_
#define MEMTRACE_TOOLS_FIT_RANKS_LAYOUTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/fit/answer/answer.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/answer/runner.h"
#include "tools/fit/changes/candidates.h"
#include "tools/fit/files/file_layer.h"
#include "tools/fit/files/folder_watch.h"
#include "tools/launch/job_ranks.h"

namespace memtrace::fit {

// How a layout of a job was judged.
enum class LayoutVerdict : uint8_t {
  kFits,
  kDoesNotFit,
  kNotKnown,    // it ran, but its peak still rose, its time was over, or not each kind of rank ran
  kFailed,      // the program fails by itself: it rejects the layout
  kLargerThan,  // not run: a smaller batch or sequence of the same layout does not fit already
};

// A combination of values of the options that vary.
struct Layout {
  std::vector<std::string> values;      // by option
  std::optional<launch::JobRanks> job;  // with the ranks that ran
  LayoutVerdict verdict = LayoutVerdict::kNotKnown;
  Outcome outcome;          // without a limit if that decides, else on the card; if it ran
  CardNeed fullest;         // of the rank that needs most; `card` is the rank
  StepCost cost;            // of a step of the rank that sends most, else the lowest
  uint64_t passes = 0;      // forward passes of the lowest rank in a step; 0: not known
  bool has_margin = false;  // all that the run decided by reserved leaves the question's margin
  std::string reason;       // of kFailed, or if it did not run, as a clause; may be empty

  bool ran() const { return !outcome.processes.empty(); }

  // Returns the part of a step in which a pipeline waits for its first and last micro-batches; 0
  // without one. With p stages and n forward passes of a stage, each as long as the other's, it is
  // (p - 1) / (n + p - 1): GPipe and 1F1B, also interleaved (Narayanan et al., "Efficient
  // Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", 2021, section 2.2).
  double IdleShare() const;
};

// The layouts that were compared.
struct LayoutAnswer {
  std::vector<std::string> cards;    // of a machine, as given
  std::vector<uint64_t> card_bytes;  // of each rank's card, by rank
  std::vector<std::string> options;  // the names of what varies
  std::vector<Layout> layouts;       // in the order tried
  size_t untried = 0;                // the other combinations: the search was stopped
  uint64_t margin_percent = 0;       // of each card that a recommended layout should leave
  // The layout that fits and sends least, among those that leave the margin if any does.
  std::optional<size_t> recommended;
  FileKeeping keeping = {};    // of the user's files, in all runs
  FolderChanges changes = {};  // of the user's files meanwhile, where runs have no layer
};

// Returns the moments of the program that no run of a layout that fits has seen.
std::vector<Gap> UnseenMoments(const LayoutAnswer& answer);

// Finds which ranks of the trial's job differ. Errors are those of FindRankKinds.
using RankFinder = std::function<absl::StatusOr<launch::JobRanks>(const Trial&)>;

// Says why the latest trial failed by itself, as a clause; "" if that is not known.
using FailureReader = std::function<std::string()>;

// Tries all combinations of the values that the question's options take.
//
// Thread rule: one thread at a time.
class LayoutSearch {
 public:
  LayoutSearch(Question question, Runner run, RankFinder find_ranks, FailureReader why)
      : question_(std::move(question)),
        run_(std::move(run)),
        find_ranks_(std::move(find_ranks)),
        why_(std::move(why)) {}

  // Runs the trials. Errors are kCancelled if memtrace is told to stop, and those of RunTrial that
  // hold for every layout.
  absl::Status Run();

  // The answer; after an error, the part that was found before it.
  const LayoutAnswer& answer() const { return answer_; }

 private:
  absl::Status Try(Layout layout);
  absl::Status Judge(Trial trial, Layout& layout);
  absl::StatusOr<Outcome> RunOf(const Trial& trial, const Layout& layout) const;
  bool IsLargerThanOneThatFails(const Layout& layout) const;
  bool IsBetter(const Layout& a, const Layout& b) const;
  void Recommend();

  Question question_;
  Runner run_;
  RankFinder find_ranks_;
  FailureReader why_;
  std::vector<uint64_t> with_margin_;  // the cards' bytes without the margin, by rank
  LayoutAnswer answer_;
};

// Returns all combinations of the values, the last option varying fastest.
std::vector<std::vector<std::string>> Combinations(const std::vector<Variation>& options);

// True if larger values of the option need at least as much memory: it names the size of a batch or
// a length ("micro_batch_size"), and no number of parts ("num_batches", "context_parallel").
bool IsSize(const std::string& option);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_RANKS_LAYOUTS_H_
