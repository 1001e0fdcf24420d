// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_TRIALS_KEPT_AWAY_H_
#define MEMTRACE_TOOLS_FIT_TRIALS_KEPT_AWAY_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/analysis/source/annotation.h"
#include "tools/fit/files/layer_contents.h"

namespace memtrace::fit {

// The files that a trial kept away from the user's folders, as the process states in its trace
// (interpose/python/memtrace/_scratch).
struct KeptAway {
  uint64_t saves = 0;              // checkpoints of tensors, whose bytes were not written
  uint64_t files = 0;              // other files that were written, moved or deleted
  std::vector<std::string> first;  // the names of the first few

  uint64_t programs = 0;                    // programs started that are not Python: not kept away
  std::vector<std::string> first_programs;  // their names

  bool is_full = false;  // the run's layer was full and could take no more

  bool is_nothing() const { return saves == 0 && files == 0; }
};

// Reads them from annotations. A missing or malformed count is 0.
KeptAway KeptAwayOf(const analysis::Annotations& annotations);

// Returns the same with the files in the layer of the run added. Files among `saves` are
// checkpoints, which the process stated itself.
KeptAway WithLayer(KeptAway stated, const LayerContents& layer, const std::set<std::string>& saves);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_TRIALS_KEPT_AWAY_H_
