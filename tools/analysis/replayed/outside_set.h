// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_OUTSIDE_SET_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_OUTSIDE_SET_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// Replays what the process holds beside its allocator.
class OutsideSet {
 public:
  void Apply(const trace::Event& event);

  // Returns the memory of `device` and of the host that is held now, in order of address.
  std::vector<trace::OutsideAllocate> Capture(int32_t device) const;

 private:
  using Key = std::pair<trace::OutsideKind, uint64_t>;

  void Apply(const trace::OutsideAllocate& taken) {
    blocks_.insert_or_assign({taken.kind, taken.address}, taken);
  }
  void Apply(const trace::OutsideFree& back) { blocks_.erase({back.kind, back.address}); }
  // Ignores events that change nothing here.
  template <
      trace::OneOf<trace::Allocate, trace::FreeRequested, trace::FreeCompleted, trace::Reserve,
                   trace::Map, trace::Unmap, trace::Relabel, trace::Step, trace::PhaseChange,
                   trace::TagChange, trace::Annotate, trace::OutOfMemory, trace::CardSample,
                   trace::Lost, trace::Resume, trace::Alive, trace::Activity, trace::Moved>
          Ignored>
  void Apply(const Ignored&) {}

  std::map<Key, trace::OutsideAllocate> blocks_;
};

// True for memory of the host that the driver pinned, or that it moves by itself: it is no card's.
bool IsOfHost(trace::OutsideKind kind);

// The bytes of one kind at one site.
struct OutsideHolding {
  trace::OutsideKind kind = trace::OutsideKind::kDevice;
  std::string site;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// Returns the holdings, largest first, those of cards before those of the host.
std::vector<OutsideHolding> HoldingsOf(const std::vector<trace::OutsideAllocate>& blocks,
                                       SiteNames& sites);

// The bytes of a card that one library took.
struct LibraryBytes {
  std::string library;  // "NCCL"; empty for all that is not a library's
  uint64_t bytes = 0;
};

// Returns the bytes of the card's holdings by library, the largest first.
std::vector<LibraryBytes> LibrariesOf(const std::vector<OutsideHolding>& holdings);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_OUTSIDE_SET_H_
