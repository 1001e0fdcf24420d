// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_UNTRAINED_PASSES_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_UNTRAINED_PASSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Activations that passes of a model in eval mode keep for a backward, which would only give
// gradients of parameters that no optimizer steps: a teacher, a reference model. Under
// torch.no_grad() they would not be kept.
struct UntrainedPasses {
  uint64_t bytes = 0;
  uint64_t calls = 0;       // that made them
  std::string line;         // of the call that made most: "train.py:14"
  bool is_running = false;  // the latest is not over
};

// Finds where such passes begin and end, as the hooks state it.
class UntrainedWatch {
 public:
  explicit UntrainedWatch(const EventSource& source) : source_(source) {}

  // Takes the events of the first reading.
  void See(const trace::Event& event);
  // Returns what they keep of `captured`; nothing if they keep none of it.
  std::optional<UntrainedPasses> Kept(const std::vector<CapturedBlock>& captured,
                                      const LiveSet& live) const;
  // Returns the blocks of `captured` that other passes made.
  std::vector<CapturedBlock> BlocksOfOtherPasses(const std::vector<CapturedBlock>& captured,
                                                 const LiveSet& live) const;

 private:
  struct Pass {
    uint64_t begin = 0;  // sequence numbers
    uint64_t end = 0;    // 0: it runs
    trace::StringId line = 0;
  };
  const Pass* MakerOf(const Block& block) const;
  uint64_t Activations(const CapturedBlock& entry, const LiveSet& live) const;

  const EventSource& source_;
  std::vector<Pass> passes_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_UNTRAINED_PASSES_H_
