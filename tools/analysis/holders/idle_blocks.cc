// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/idle_blocks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/replayed/role_inference.h"

namespace memtrace::analysis {
namespace {

// The time of each block's last write up to the moment, by the number of its allocation.
using LastWrites = absl::flat_hash_map<uint64_t, uint64_t>;

LastWrites BirthsOf(const std::vector<CapturedBlock>& captured, const LiveSet& live) {
  LastWrites last;
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    if (!entry.waiting) last.emplace(block.sequence, block.born_ns);
  }
  return last;
}

void AddWrites(LastWrites& last, uint64_t moment_ns, const EventSource& source) {
  source.ForEach([&](const trace::Event& event) {
    const auto* activity = std::get_if<trace::Activity>(&event.payload);
    if (activity == nullptr || activity->block == 0 || activity->start_ns > moment_ns) return;
    const auto found = last.find(activity->block);
    if (found == last.end()) return;
    found->second = std::max(found->second, std::min(EndOf(*activity), moment_ns));
  });
}

uint64_t UnstatedBytes(BlockId id, const LiveSet& live) {
  uint64_t bytes = live.block(id).allocation.requested;
  for (const trace::LabelledRange& range : live.Labels(id)) {
    const bool is_stated = range.label.role != trace::Role::kUnknown;
    if (is_stated) bytes -= std::min(bytes, range.end - range.begin);
  }
  return bytes;
}

// Sums up blocks by role and site.
class Tally {
 public:
  Tally(uint64_t moment_ns, const LiveSet& live, SiteNames& sites)
      : moment_ns_(moment_ns), live_(live), sites_(sites) {}

  void Add(const Block& block, uint64_t bytes, uint64_t written_ns, uint64_t step);
  void AddUnknown(uint64_t bytes) { result_.unknown_bytes += bytes; }
  IdleBlocks Finish();

 private:
  uint64_t moment_ns_;
  const LiveSet& live_;
  SiteNames& sites_;
  std::map<std::pair<trace::Role, SiteId>, IdleSite> rows_;
  IdleBlocks result_;
};

void Tally::Add(const Block& block, uint64_t bytes, uint64_t written_ns, uint64_t step) {
  const trace::Allocate& allocation = block.allocation;
  const trace::Role role = InferRole(block, live_.position());
  const SiteId site = sites_.Site(role, 0, allocation.module, allocation.stack, block.birth.phase);
  const uint64_t idle_ns = moment_ns_ - written_ns;
  IdleSite& row = rows_[{role, site}];
  row.idle_ns = row.blocks == 0 ? idle_ns : std::min(row.idle_ns, idle_ns);
  row.last_step = std::max(row.last_step, step);
  row.bytes += bytes;
  ++row.blocks;
  result_.idle_ns = result_.blocks == 0 ? idle_ns : std::min(result_.idle_ns, idle_ns);
  result_.bytes += bytes;
  ++result_.blocks;
}

IdleBlocks Tally::Finish() {
  result_.sites.reserve(rows_.size());
  for (auto& [key, row] : rows_) {
    row.role = key.first;
    row.site = sites_.Name(key.second);
    result_.sites.push_back(std::move(row));
  }
  std::sort(result_.sites.begin(), result_.sites.end(), [](const IdleSite& a, const IdleSite& b) {
    return std::tie(b.bytes, a.site, a.role) < std::tie(a.bytes, b.site, b.role);
  });
  return std::move(result_);
}

}  // namespace

std::optional<IdleBlocks> FindIdleBlocks(const std::vector<CapturedBlock>& captured,
                                         uint64_t moment_ns, const LiveSet& live,
                                         const ActivityWatch& watch, const EventSource& source,
                                         SiteNames& sites) {
  if (!watch.was_on()) return std::nullopt;
  LastWrites last = BirthsOf(captured, live);
  AddWrites(last, moment_ns, source);
  const uint64_t now = watch.StepAt(moment_ns);
  Tally tally(moment_ns, live, sites);
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    const uint64_t bytes = entry.waiting ? 0 : UnstatedBytes(entry.id, live);
    if (bytes == 0) continue;
    const uint64_t written_ns = std::min(last[block.sequence], moment_ns);
    const uint64_t step = watch.StepAt(written_ns);
    if (step >= now) continue;
    if (watch.WasOn(written_ns, moment_ns)) {
      tally.Add(block, bytes, written_ns, step);
    } else {
      tally.AddUnknown(bytes);
    }
  }
  return tally.Finish();
}

}  // namespace memtrace::analysis
