// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_KEPT_AWAY_H_
#define MEMTRACE_TOOLS_FIT_KEPT_AWAY_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/analysis/source/annotation.h"
#include "tools/fit/files/layer_contents.h"

namespace memtrace::fit {

// What a trial kept away from the user's folders, as the process states it in its trace
// (interpose/python/memtrace/_scratch).
struct KeptAway {
  uint64_t saves = 0;              // checkpoints of tensors, of which no bytes were written
  uint64_t files = 0;              // others that were written, moved or deleted
  std::vector<std::string> first;  // the names of the first few

  uint64_t programs = 0;                    // that are not Python and were started: not kept away
  std::vector<std::string> first_programs;  // their names

  bool is_full = false;  // the layer of the run: it could write no more

  bool is_nothing() const { return saves == 0 && files == 0; }
};

// What is missing or no number counts as none.
KeptAway KeptAwayOf(const analysis::Annotations& annotations);

// The same with the files that lie in the layer of the run; those among `saves` are checkpoints,
// which the process stated.
KeptAway WithLayer(KeptAway stated, const LayerContents& layer, const std::set<std::string>& saves);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_KEPT_AWAY_H_
