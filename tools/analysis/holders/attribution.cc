// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/attribution.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/holders/block_parts.h"

namespace memtrace::analysis {
namespace {

struct Key {
  Identity identity;
  trace::StringId module = 0;
  SiteId site = 0;
  uint64_t step = 0;

  bool operator==(const Key&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const Key& key) {
    return H::combine(std::move(state), key.identity, key.module, key.site, key.step);
  }
};

struct Sum {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

class Attributor {
 public:
  Attributor(const LiveSet& live, const EventSource& source)
      : live_(live), source_(source), lines_(source) {}

  void Add(BlockId id) {
    const Block& block = live_.block(id);
    const trace::Allocate& allocation = block.allocation;
    const std::vector<Part> parts =
        PartsOf(block, live_.Labels(id), live_.position(), source_.best_evidence());
    // Only the line counts, neither the module nor the path.
    const SiteId line =
        lines_.Site(trace::Role::kUnknown, 0, 0, allocation.stack, block.birth.phase);
    const auto sum_of = [&](const Part& part) -> Sum& {
      return sums_[{part.identity, allocation.module, line, block.birth.step}];
    };
    for (const Part& part : parts) sum_of(part).bytes += part.bytes;
    if (!parts.empty()) ++sum_of(LargestPart(parts)).blocks;
  }

  std::vector<AttributedBytes> Sorted() const {
    std::vector<AttributedBytes> rows;
    rows.reserve(sums_.size());
    for (const auto& [key, sum] : sums_) rows.push_back(RowOf(key, sum));
    std::sort(rows.begin(), rows.end(), Precedes);
    return Joined(std::move(rows));
  }

 private:
  AttributedBytes RowOf(const Key& key, const Sum& sum) const {
    AttributedBytes row;
    row.role = key.identity.role;
    row.evidence = key.identity.evidence;
    row.owner =
        key.identity.owner == 0 ? "(none)" : std::string(source_.String(key.identity.owner));
    const bool of_parameter = key.identity.path != 0;
    const trace::StringId path = of_parameter ? key.identity.path : key.module;
    row.module = path == 0 ? "(no module)" : CollapsedPath(source_.String(path), of_parameter);
    row.site = lines_.Name(key.site);
    row.step = key.step;
    row.bytes = sum.bytes;
    row.blocks = sum.blocks;
    return row;
  }

  static auto NameOf(const AttributedBytes& row) {
    return std::tie(row.role, row.owner, row.module, row.site, row.step, row.evidence);
  }
  static bool Precedes(const AttributedBytes& a, const AttributedBytes& b) {
    return NameOf(a) < NameOf(b);
  }

  // Joins rows whose paths differed only in the number of their layer.
  static std::vector<AttributedBytes> Joined(std::vector<AttributedBytes> rows) {
    std::vector<AttributedBytes> joined;
    for (AttributedBytes& row : rows) {
      if (!joined.empty() && NameOf(joined.back()) == NameOf(row)) {
        joined.back().bytes += row.bytes;
        joined.back().blocks += row.blocks;
      } else {
        joined.push_back(std::move(row));
      }
    }
    std::stable_sort(
        joined.begin(), joined.end(),
        [](const AttributedBytes& a, const AttributedBytes& b) { return a.bytes > b.bytes; });
    return joined;
  }

  const LiveSet& live_;
  const EventSource& source_;
  SiteNames lines_;
  absl::flat_hash_map<Key, Sum> sums_;
};

}  // namespace

std::vector<AttributedBytes> Attribute(const std::vector<CapturedBlock>& captured,
                                       const LiveSet& live, const EventSource& source) {
  Attributor attributor(live, source);
  for (const CapturedBlock& block : captured) {
    if (!block.waiting) attributor.Add(block.id);
  }
  return attributor.Sorted();
}

}  // namespace memtrace::analysis
