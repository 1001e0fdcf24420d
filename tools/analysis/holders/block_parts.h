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

// The most models of the same class that are told apart. Parts that are called by themselves, such
// as layers that are not yet in a model, have the same paths as well, and are more.
inline constexpr size_t kMostModels = 4;

// The facts by which a report describes bytes.
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

// Returns the identity of bytes of `block`. `label`: what is stated about them, if anything; `end`:
// where the trace ends; `best`: EventSource::best_evidence.
Identity IdentityOf(const Block& block, const Label& label, const Position& end, Evidence best);

// Splits the requested bytes by address: a part for each of the block's labels (LiveSet::Labels)
// and each range between them. A block of 0 bytes has no parts.
std::vector<Part> PartsOf(const Block& block, const std::vector<LabelledRange>& labels,
                          const Position& end, Evidence best);

// Returns the largest part, the first of equal ones. `parts`: not empty.
const Part& LargestPart(const std::vector<Part>& parts);

// Returns the identity of the largest part of a living block.
Identity MainIdentity(BlockId id, const LiveSet& live, Evidence best);

// Returns the site where bytes of that identity come from, in this block.
SiteId SiteOf(const Block& block, const Identity& identity, SiteNames& sites);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_BLOCK_PARTS_H_
