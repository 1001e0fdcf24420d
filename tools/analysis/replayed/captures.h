// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_CAPTURES_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_CAPTURES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/replayed/card_ledger.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/mapped_segments.h"
#include "tools/analysis/replayed/moved_memory.h"
#include "tools/analysis/replayed/outside_set.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/moment.h"

namespace memtrace::analysis {

// One card as it was at a moment.
struct CapturedCard {
  Moment when;
  std::vector<CapturedBlock> blocks;  // in order of address
  std::vector<trace::OutsideAllocate> outside;
  std::vector<MappedSegment> segments;  // in order of address
  Ledger ledger;                        // of the replay
  std::string processes;                // annotation "card.processes.CARD"
};

// The second reading of a trace. It stops at the requested moments, and goes on to the end, because
// labels and deaths that come later still count.
class Captures {
 public:
  explicit Captures(const Timeline& timeline) : timeline_(timeline) {}

  // Calls `take` with the card as it is after event number `ordinal` (0: before the first).
  void At(uint64_t ordinal, int32_t device, std::function<void(CapturedCard)> take);
  // Calls `look` after that event; live() then has what lives.
  void At(uint64_t ordinal, std::function<void()> look);

  void Read(const EventSource& source);

  LiveSet& live() { return live_; }
  const LiveSet& live() const { return live_; }
  const OutsideSet& outside() const { return outside_; }
  const MovedMemory& moved() const { return moved_; }
  // Returns the ledger of a card at the end, for cards on which nothing was ever allocated.
  Ledger LedgerAtEnd(int32_t device);

 private:
  void Apply(const trace::CardSample& sample, const EventSource& source);
  void Apply(const trace::OutOfMemory& failed, const EventSource& source);
  void Apply(const trace::Annotate& fact, const EventSource& source);
  // Ignores events that change nothing here.
  template <
      trace::OneOf<trace::Allocate, trace::FreeRequested, trace::FreeCompleted, trace::Reserve,
                   trace::Map, trace::Unmap, trace::Relabel, trace::Step, trace::PhaseChange,
                   trace::TagChange, trace::Lost, trace::OutsideAllocate, trace::OutsideFree,
                   trace::Resume, trace::Alive, trace::Activity, trace::Moved>
          Ignored>
  void Apply(const Ignored&, const EventSource&) {}

  CapturedCard Capture(int32_t device);

  const Timeline& timeline_;
  std::multimap<uint64_t, std::function<void()>> looks_;
  LiveSet live_;
  OutsideSet outside_;
  MovedMemory moved_;
  MappedSegments segments_;
  std::map<int32_t, trace::CardLedger> samples_;               // the latest
  std::map<std::string, std::string, std::less<>> processes_;  // likewise, by key
  Moment now_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_CAPTURES_H_
