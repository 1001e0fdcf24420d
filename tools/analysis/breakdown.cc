// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/breakdown.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/role_inference.h"

namespace memtrace::analysis {
namespace {

// A range of a block with everything that is known about it.
struct Part {
  uint64_t bytes = 0;
  trace::Role role = trace::Role::kUnknown;
  bool stated = false;
  trace::StringId owner = 0;
  SiteId site = 0;
};

struct Sum {
  uint64_t bytes = 0;
  uint64_t stated_bytes = 0;

  void Add(const Part& part) {
    bytes += part.bytes;
    if (part.stated) stated_bytes += part.bytes;
  }
};

class Tally {
 public:
  Tally(const LiveSet& live, const EventSource& source, SiteNames& sites)
      : live_(live), source_(source), sites_(sites) {}

  void Add(BlockId id);
  Breakdown Finish();

 private:
  void AddPart(const Block& block, const Part& part);
  Part Describe(const Block& block, uint64_t bytes, const Label& label);

  const LiveSet& live_;
  const EventSource& source_;
  SiteNames& sites_;
  Breakdown result_;
  absl::flat_hash_map<trace::Role, Sum> roles_;
  absl::flat_hash_map<trace::StringId, Sum> owners_;
  absl::flat_hash_map<SiteId, Sum> site_sums_;
  absl::flat_hash_map<std::pair<trace::Role, SiteId>, Holding> holdings_;
  std::vector<std::pair<trace::Role, SiteId>> rows_of_block_;
};

Part Tally::Describe(const Block& block, uint64_t bytes, const Label& label) {
  const trace::Allocate& allocation = block.allocation;
  Part part;
  part.bytes = bytes;
  part.stated = label.role != trace::Role::kUnknown;
  part.role = part.stated ? label.role : InferRole(block, live_.position());
  part.owner = label.owner != 0 ? label.owner : allocation.owner;
  part.site =
      sites_.Site(part.role, label.path, allocation.module, allocation.stack, block.birth.phase);
  return part;
}

void Tally::Add(BlockId id) {
  const Block& block = live_.block(id);
  const uint64_t begin = block.allocation.address;
  const uint64_t end = begin + block.allocation.requested;
  ++result_.blocks;
  rows_of_block_.clear();
  uint64_t at = begin;
  for (const LabelledRange& range : live_.Labels(id)) {
    if (range.begin > at) AddPart(block, Describe(block, range.begin - at, {}));
    AddPart(block, Describe(block, range.end - range.begin, range.label));
    at = range.end;
  }
  if (at < end) AddPart(block, Describe(block, end - at, {}));
}

void Tally::AddPart(const Block& block, const Part& part) {
  result_.bytes += part.bytes;
  roles_[part.role].Add(part);
  owners_[part.owner].Add(part);
  site_sums_[part.site].Add(part);
  const std::pair key(part.role, part.site);
  Holding& row = holdings_[key];
  if (row.blocks == 0 || block.birth.step < row.since.step) row.since = block.birth;
  if (std::find(rows_of_block_.begin(), rows_of_block_.end(), key) == rows_of_block_.end()) {
    rows_of_block_.push_back(key);
    ++row.blocks;
  }
  row.bytes += part.bytes;
  if (part.stated) row.stated_bytes += part.bytes;
  if (part.bytes <= row.largest) return;
  row.largest = part.bytes;
  row.stack = block.allocation.stack;
}

template <typename Sums, typename Name>
std::vector<Share> Named(const Sums& sums, const Name& name) {
  std::vector<Share> shares;
  for (const auto& [key, sum] : sums) shares.push_back({name(key), sum.bytes, sum.stated_bytes});
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
    return std::pair(b.bytes, a.name) < std::pair(a.bytes, b.name);
  });
  return shares;
}

Breakdown Tally::Finish() {
  result_.by_role = Named(roles_, [](trace::Role role) { return std::string(RoleName(role)); });
  result_.by_owner = Named(owners_, [this](trace::StringId owner) {
    return owner == 0 ? std::string("(none)") : std::string(source_.String(owner));
  });
  result_.by_site = Named(site_sums_, [this](SiteId site) { return sites_.Name(site); });
  for (auto& [key, holding] : holdings_) {
    holding.role = key.first;
    holding.site = sites_.Name(key.second);
    result_.holdings.push_back(holding);
  }
  std::sort(result_.holdings.begin(), result_.holdings.end(),
            [](const Holding& a, const Holding& b) {
              return std::tie(b.bytes, a.site, a.role) < std::tie(a.bytes, b.site, b.role);
            });
  return std::move(result_);
}

}  // namespace

uint64_t BytesOfRole(const Breakdown& breakdown, trace::Role role) {
  for (const Share& share : breakdown.by_role) {
    if (share.name == RoleName(role)) return share.bytes;
  }
  return 0;
}

Breakdown BreakDown(const std::vector<CapturedBlock>& captured, bool waiting, const LiveSet& live,
                    const EventSource& source, SiteNames& sites) {
  Tally tally(live, source, sites);
  for (const CapturedBlock& block : captured) {
    if (waiting || !block.waiting) tally.Add(block.id);
  }
  return tally.Finish();
}

}  // namespace memtrace::analysis
