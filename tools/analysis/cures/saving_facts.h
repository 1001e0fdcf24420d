// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_SAVING_FACTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_SAVING_FACTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/holders/breakdown.h"
#include "tools/analysis/holders/call_sizes.h"
#include "tools/analysis/kept/dead_cycles.h"
#include "tools/analysis/kept/deleted_models.h"
#include "tools/analysis/kept/failed_attempts.h"
#include "tools/analysis/kept/growth.h"
#include "tools/analysis/kept/kept_for_backward.h"
#include "tools/analysis/kept/kept_results.h"
#include "tools/analysis/kept/summed_passes.h"
#include "tools/analysis/kept/unread_names.h"
#include "tools/analysis/kept/untrained_passes.h"
#include "tools/analysis/replayed/card_ledger.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/update_watch.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/other_processes.h"
#include "tools/analysis/verdict/foreach_copy.h"
#include "tools/analysis/verdict/verdict.h"
#include "tools/remedies/catalogue.h"

namespace memtrace::analysis {

using remedies::Effort;

// A change that the trace supports, and the bytes of the card that it frees at the moment.
struct Saving {
  std::string name;
  uint64_t bytes = 0;
  // Bytes that it also frees in the steps after that of the moment.
  uint64_t bytes_later = 0;
  std::string_view how_known;  // "exact", "estimated"
  Effort effort = Effort::kLines;
  std::string cost;
  std::string change;
  std::string_view hook = "";  // as of remedies::Row
  bool at_least = false;       // more than is known may come on top of the need
  bool ends_growth = false;    // what grows with every step is what it frees
  // If the rest of the failed step is not known, the change is still said to fit if the need is at
  // most this percentage of the card, because it also avoids what would have come. 0: never said.
  uint64_t percent_that_fits = 0;
  // Bytes that the card needs in this step with the change, if they are known directly.
  std::optional<uint64_t> need = std::nullopt;
  bool is_whole = false;  // nothing comes on top of the need, although the step's is not known
  bool is_small_and_matters = false;  // even if it frees less than 1 percent of what is held
};

// Values of Saving::percent_that_fits. Loading ends with the whole model, but a pass may have much
// of its need ahead.
inline constexpr uint64_t kPercentOfLoaded = 80;
inline constexpr uint64_t kPercentOfPass = 25;

// Returns an estimated saving with the words of the catalogue's row.
Saving SavingOf(remedies::Id id, uint64_t bytes, uint64_t bytes_later);

// A condition on the stack that requested memory.
using StackRule = std::function<bool(const std::vector<trace::Frame>&)>;

// The facts in which savings are found.
struct SavingFacts {
  const std::vector<CapturedBlock>& captured;  // of the moment
  const LiveSet& live;
  const EventSource& source;
  const Breakdown& held;
  const Annotations& annotations;
  const Update& update;  // the latest before the moment
  const Ledger& ledger;
  const Verdict& verdict;
  const std::optional<ForeachCopy>& copy;
  const std::optional<KeptForBackward>& kept;
  const std::optional<UntrainedPasses>& untrained;
  const std::vector<CapturedBlock>& of_others;  // than these passes: the rest of `captured`
  const std::optional<LargestCall>& largest_call;
  const std::optional<SummedPasses>& summed;
  const std::optional<DeletedModels>& deleted;
  const std::optional<KeptResults>& results;
  const GrowthCourse& growth;  // without sites if the card as a whole does not grow
  const std::optional<DeadCycles>& dead;
  const std::optional<FailedAttempts>& attempts;
  const std::vector<UnreadValue>& unread;
  bool is_after_loop = false;  // of GrowthSearch
  int32_t device = 0;
  const std::vector<OtherProcess>& others;  // of the launch
  Position moment;
  std::vector<trace::Frame> request_stack;  // empty without a failed request
  uint64_t request_bytes = 0;
  std::optional<uint64_t> rise_of_same_request = std::nullopt;  // FailedRequest
  uint64_t peak_of_earlier_steps = 0;                           // likewise

  uint64_t Held(trace::Role role) const { return BytesOfRole(held, role); }
  // Bytes of the card's parameters that living optimizers step; 0 if that is not known.
  uint64_t TrainedBytes() const;

  // Calls `visit` with each block in use, or with each part of each block, as told by labels whose
  // evidence is at most `best`.
  void ForEachBlock(const std::function<void(BlockId, const Block&)>& visit) const;
  void ForEachPart(Evidence best,
                   const std::function<void(const Block&, const Part&)>& visit) const;

  // Returns the blocks in use whose stack fulfils `is_such`, or their bytes.
  std::vector<const Block*> BlocksWhere(const StackRule& is_such) const;
  uint64_t BytesWhere(const StackRule& is_such) const;

  // True if the site that grows fastest has a stack that fulfils `is_such`.
  bool GrowsBy(const StackRule& is_such) const;
  // True if most of what grows is parameters of modules.
  bool GrowsByParameters() const;
  // True if captured graphs are what grows: blocks of two or more private pools. What a graph reads
  // and writes has to stay in place for as long as the graph is replayed.
  bool GrowsByCaptures() const;
};

// Collects savings; drops those that free nothing.
class SavingList {
 public:
  void Add(Saving saving) {
    if (saving.bytes > 0) found_.push_back(std::move(saving));
  }
  // Adds a saving with its own words instead of the catalogue's.
  void Add(Saving saving, std::string change) {
    saving.change = std::move(change);
    Add(std::move(saving));
  }

  const std::vector<Saving>& found() const { return found_; }
  std::vector<Saving> Take() { return std::move(found_); }

 private:
  std::vector<Saving> found_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_SAVING_FACTS_H_
