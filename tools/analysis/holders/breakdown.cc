// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/breakdown.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "profiler/trace/events/assumed_size.h"
#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/holders/model_numbers.h"

namespace memtrace::analysis {
namespace {

struct ShareSum {
  uint64_t bytes = 0;
  KnownBytes known;

  void Add(const Part& part) {
    bytes += part.bytes;
    known.Add(part.identity.evidence, part.bytes);
  }
};

struct RowKey {
  trace::Role role = trace::Role::kUnknown;
  SiteId site = 0;
  uint32_t model = 0;
  trace::StringId owner = 0;

  bool operator==(const RowKey&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const RowKey& key) {
    return H::combine(std::move(state), key.role, key.site, key.model, key.owner);
  }
};

class ShareTally {
 public:
  ShareTally(const std::vector<CapturedBlock>& captured, const LiveSet& live,
             const EventSource& source, SiteNames& sites)
      : live_(live), source_(source), sites_(sites), models_(captured, live) {}

  void Add(BlockId id);
  Breakdown Finish();

 private:
  void AddPart(const Block& block, const Part& part, uint32_t model);

  const LiveSet& live_;
  const EventSource& source_;
  SiteNames& sites_;
  const ModelNumbers models_;
  Breakdown result_;
  absl::flat_hash_map<trace::Role, ShareSum> roles_;
  absl::flat_hash_map<trace::StringId, ShareSum> owners_;
  absl::flat_hash_map<SiteId, ShareSum> site_sums_;
  absl::flat_hash_map<RowKey, Holding> holdings_;
  std::vector<RowKey> rows_of_block_;
};

void ShareTally::Add(BlockId id) {
  const Block& block = live_.block(id);
  ++result_.blocks;
  rows_of_block_.clear();
  for (const Part& part :
       PartsOf(block, live_.Labels(id), live_.position(), source_.best_evidence()))
    AddPart(block, part, models_.Of(id));
}

void ShareTally::AddPart(const Block& block, const Part& part, uint32_t model) {
  const Identity& identity = part.identity;
  const SiteId site = SiteOf(block, identity, sites_);
  result_.bytes += part.bytes;
  roles_[identity.role].Add(part);
  owners_[identity.owner].Add(part);
  site_sums_[site].Add(part);
  const RowKey key{identity.role, site, model, identity.owner};
  Holding& row = holdings_[key];
  if (row.blocks == 0 || block.birth.step < row.since.step) row.since = block.birth;
  if (std::find(rows_of_block_.begin(), rows_of_block_.end(), key) == rows_of_block_.end()) {
    rows_of_block_.push_back(key);
    ++row.blocks;
  }
  row.bytes += part.bytes;
  row.known.Add(identity.evidence, part.bytes);
  if (part.bytes <= row.largest) return;
  row.largest = part.bytes;
  row.stack = block.allocation.stack;
}

template <typename Sums, typename Name>
std::vector<Share> Named(const Sums& sums, const Name& name) {
  std::vector<Share> shares;
  for (const auto& [key, sum] : sums) shares.push_back({name(key), sum.bytes, sum.known});
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
    return std::pair(b.bytes, a.name) < std::pair(a.bytes, b.name);
  });
  return shares;
}

Breakdown ShareTally::Finish() {
  result_.by_role = Named(roles_, [](trace::Role role) { return std::string(RoleName(role)); });
  result_.by_owner = Named(owners_, [this](trace::StringId owner) {
    return owner == 0 ? std::string("(none)") : std::string(source_.String(owner));
  });
  result_.by_site = Named(site_sums_, [this](SiteId site) { return sites_.Name(site); });
  for (auto& [key, holding] : holdings_) {
    holding.role = key.role;
    holding.site = sites_.Name(key.site);
    holding.model = key.model;
    holding.owner = source_.String(key.owner);
    result_.holdings.push_back(holding);
  }
  std::sort(result_.holdings.begin(), result_.holdings.end(),
            [](const Holding& a, const Holding& b) {
              return std::tie(b.bytes, a.site, a.role, a.model, a.owner) <
                     std::tie(a.bytes, b.site, b.role, b.model, b.owner);
            });
  return std::move(result_);
}

}  // namespace

uint64_t AssumedBytes(const Breakdown& breakdown) {
  uint64_t bytes = 0;
  for (const Share& share : breakdown.by_site) {
    if (share.name.ends_with(trace::kAssumedWorkspace)) bytes += share.bytes;
  }
  return bytes;
}

uint64_t BytesOfRole(const Breakdown& breakdown, trace::Role role) {
  for (const Share& share : breakdown.by_role) {
    if (share.name == RoleName(role)) return share.bytes;
  }
  return 0;
}

Breakdown BreakDown(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                    const EventSource& source, SiteNames& sites, bool waiting) {
  ShareTally tally(captured, live, source, sites);
  for (const CapturedBlock& block : captured) {
    if (waiting || !block.waiting) tally.Add(block.id);
  }
  return tally.Finish();
}

Breakdown BreakDownByRole(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                          const EventSource& source) {
  Breakdown result;
  absl::flat_hash_map<trace::Role, ShareSum> roles;
  for (const CapturedBlock& entry : captured) {
    if (entry.waiting) continue;
    ++result.blocks;
    for (const Part& part : PartsOf(live.block(entry.id), live.Labels(entry.id), live.position(),
                                    source.best_evidence())) {
      result.bytes += part.bytes;
      roles[part.identity.role].Add(part);
    }
  }
  result.by_role = Named(roles, [](trace::Role role) { return std::string(RoleName(role)); });
  return result;
}

}  // namespace memtrace::analysis
