// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_BLOCK_PARTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_BLOCK_PARTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/evidence.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// What bytes are, as a report says it.
struct Identity {
  trace::Role role = trace::Role::kUnknown;
  Evidence evidence = Evidence::kNone;  // for the role; kNone if that is unknown
  trace::StringId owner = 0;            // as stated, else the tags at the allocation
  trace::StringId path = 0;             // of a parameter and what belongs to it

  bool operator==(const Identity&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const Identity& identity) {
    return H::combine(std::move(state), identity.role, identity.evidence, identity.owner,
                      identity.path);
  }
};

// A range of a block.
struct Part {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  Identity identity;
};

// `label`: that is stated, if any; `end`: where the trace ends; `best`: EventSource::best_evidence.
Identity IdentityOf(const Block& block, const Label& label, const Position& end, Evidence best);

// The bytes requested, by address: a part for each of its labels (LiveSet::Labels) and each range
// between them. None of a block of 0 bytes.
std::vector<Part> PartsOf(const Block& block, const std::vector<LabelledRange>& labels,
                          const Position& end, Evidence best);

// The largest, the first of equals. `parts`: not empty.
const Part& LargestPart(const std::vector<Part>& parts);

// What most of a living block is.
Identity MainIdentity(BlockId id, const LiveSet& live, Evidence best);

// Where bytes of that identity come from, in this block.
SiteId SiteOf(const Block& block, const Identity& identity, SiteNames& sites);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_BLOCK_PARTS_H_
