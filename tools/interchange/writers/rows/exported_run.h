// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_EXPORTED_RUN_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_EXPORTED_RUN_H_

#include "tools/analysis/replayed/block_walk.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/analysis/views/block_index.h"

namespace memtrace::interchange {

using analysis::BlockIndex;
using analysis::BlockWalk;
using analysis::Identity;
using analysis::Moment;
using analysis::Part;
using analysis::WalkedBlock;

// The first reading of a trace, which finds its peaks and what every block turned out to be.
class Survey {
 public:
  // `events` outlives this.
  explicit Survey(const analysis::EventSource& events);

  const analysis::Timeline& timeline() const { return timeline_; }
  const BlockIndex& blocks() const { return blocks_; }

 private:
  analysis::Timeline timeline_;
  BlockIndex blocks_;
};

// The input of a writer. Everything outlives it.
struct ExportedRun {
  const analysis::EventSource& events;
  const Survey& survey;
  const analysis::RunFacts& facts;
};

// Returns the cards that the run allocated from or mapped memory of, ascending.
std::vector<int32_t> CardsOf(const ExportedRun& run);

// Returns the number that launchers give the process; 0 if they give none.
int64_t RankOf(const ExportedRun& run);
int64_t ProcessOf(const ExportedRun& run);  // its number on its host; 0 if it is not known

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_EXPORTED_RUN_H_
