// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VIEWS_ORIGINS_H_
#define MEMTRACE_TOOLS_ANALYSIS_VIEWS_ORIGINS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/replayed/block_walk.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// The facts that many blocks of a run have in common: all that is known of where their bytes come
// from.
struct Origin {
  Identity identity;
  trace::StringId module = 0;
  trace::StackId stack = 0;
  trace::Phase phase = trace::Phase::kOther;  // of the allocation
  uint64_t stream = 0;
  uint32_t pool = 0;

  bool operator==(const Origin&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const Origin& origin) {
    return H::combine(std::move(state), origin.identity, origin.module, origin.stack, origin.phase,
                      origin.stream, origin.pool);
  }
};

using OriginId = uint32_t;

// Numbers origins from 0, and names them as reports do.
class Origins {
 public:
  // `source` must outlive this.
  explicit Origins(const EventSource& source) : source_(source), lines_(source) {}

  OriginId Of(const WalkedBlock& block, const Identity& identity);

  const std::vector<Origin>& all() const { return origins_; }
  std::string Owner(OriginId id) const;   // "(none)"
  std::string Module(OriginId id) const;  // "transformer.h.*.mlp"; "(no module)"
  std::string Line(OriginId id) const;    // "train.py:18"; "(in backward)"

 private:
  const EventSource& source_;
  SiteNames lines_;
  std::vector<Origin> origins_;
  std::vector<SiteId> line_of_;
  absl::flat_hash_map<Origin, OriginId> known_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VIEWS_ORIGINS_H_
