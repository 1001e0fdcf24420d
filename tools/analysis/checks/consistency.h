// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CHECKS_CONSISTENCY_H_
#define MEMTRACE_TOOLS_ANALYSIS_CHECKS_CONSISTENCY_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "profiler/trace/events/event.h"
#include "profiler/trace/reading/mapped_ranges.h"

namespace memtrace::analysis {

// Checks that each event can be true after those before it: no block overlaps another or lies
// outside of mapped memory, no block is freed that is not alive, order and time do not go back, and
// a sample reports as reserved what is mapped. Where events are known to be missing (Lost, or a
// beginning without its live set), a contradiction that they could explain is ignored.
//
// The class keeps its own map of blocks instead of BlockLives, whose rules repair the faults that
// are sought here. It also needs the order of addresses and the end of each block at every event,
// which no other reader does, to find a block that overlaps another.
class Consistency {
 public:
  // `begins_blind`: the blocks that were alive at the beginning are not known.
  explicit Consistency(bool begins_blind) : is_blind_(begins_blind) {}

  // Returns a clause that says what is wrong with the event, such as "it frees 0x7f00 of card 0,
  // where no block is in use"; empty if nothing is.
  std::string Apply(const trace::Event& event);

 private:
  struct Block {
    uint64_t end = 0;
    bool waiting = false;
  };
  struct Card {
    absl::btree_map<uint64_t, Block> blocks;
    trace::MappedRanges mapped;
    bool has_maps = false;  // some sources know of none
  };
  using OutsidePlace = std::pair<trace::OutsideKind, uint64_t>;

  std::string CheckOrder(const trace::Event& event);
  std::string Apply(const trace::Allocate& allocation);
  std::string Apply(const trace::Alive& alive);
  std::string Apply(const trace::FreeRequested& free);
  std::string Apply(const trace::FreeCompleted& free);
  std::string Apply(const trace::Map& map);
  std::string Apply(const trace::Unmap& unmap);
  std::string Apply(const trace::CardSample& sample);
  std::string Apply(const trace::OutOfMemory& failed);
  std::string Apply(const trace::OutsideAllocate& taken);
  std::string Apply(const trace::OutsideFree& back);
  std::string Apply(const trace::Lost& lost);
  // Accepts events of kinds that cannot contradict earlier ones.
  template <
      trace::OneOf<trace::Reserve, trace::Relabel, trace::Step, trace::PhaseChange,
                   trace::TagChange, trace::Annotate, trace::Resume, trace::Activity, trace::Moved>
          Ignored>
  std::string Apply(const Ignored&) {
    return {};
  }

  std::string CheckLedger(const trace::CardLedger& ledger);
  std::string UnlessBlind(const std::string& clause) const {
    return is_blind_ ? std::string() : clause;
  }

  std::map<int32_t, Card> cards_;
  absl::btree_map<OutsidePlace, uint64_t> outside_;  // place -> bytes
  bool is_blind_;
  uint64_t sequence_ = 0;
  uint64_t time_ns_ = 0;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CHECKS_CONSISTENCY_H_
