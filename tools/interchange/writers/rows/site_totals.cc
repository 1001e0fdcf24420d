// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/rows/site_totals.h"

#include <algorithm>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/replayed/block_walk.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::interchange {
namespace {

class Totals {
 public:
  explicit Totals(const ExportedRun& run) : run_(run) {}

  void Apply(const trace::Event& event) {
    walk_.Apply(event);
    if (std::holds_alternative<trace::Allocate>(event.payload)) {
      Add(*walk_.block(), &SiteTotal::all_bytes, &SiteTotal::all_blocks);
    }
    for (const auto& [device, card] : run_.survey.timeline().cards()) {
      if (card.peak_event == walk_.ordinal()) AddPeak(device);
    }
  }

  std::vector<std::pair<Site, SiteTotal>> Sorted() const {
    std::vector<std::pair<Site, SiteTotal>> sorted(totals_.begin(), totals_.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return sorted;
  }

 private:
  void AddPeak(int32_t device) {
    walk_.ForEachLiving(device, [this](const WalkedBlock& block) {
      if (!block.free_requested) Add(block, &SiteTotal::peak_bytes, &SiteTotal::peak_blocks);
    });
  }

  void Add(const WalkedBlock& block, uint64_t SiteTotal::*bytes, uint64_t SiteTotal::*blocks) {
    const trace::Allocate& allocation = block.allocation;
    const BlockIndex& index = run_.survey.blocks();
    bool counted = false;
    for (const Part& part : index.Parts(block.number, allocation.requested)) {
      SiteTotal& total = totals_[{.device = allocation.device,
                                  .stack = allocation.stack,
                                  .role = part.identity.role,
                                  .evidence = part.identity.evidence,
                                  .owner = part.identity.owner,
                                  .module = allocation.module,
                                  .phase = block.birth.at.phase}];
      total.*bytes += part.bytes;
      if (counted || !(part.identity == index.Main(block.number))) continue;
      counted = true;
      ++(total.*blocks);
    }
  }

  const ExportedRun& run_;
  BlockWalk walk_;
  absl::flat_hash_map<Site, SiteTotal> totals_;
};

}  // namespace

std::vector<std::pair<Site, SiteTotal>> SiteTotals(const ExportedRun& run) {
  Totals totals(run);
  run.events.ForEach([&totals](const trace::Event& event) { totals.Apply(event); });
  return totals.Sorted();
}

std::vector<trace::Frame> CallPath(const Site& site, const ExportedRun& run) {
  std::vector<trace::Frame> stack = run.events.Stack(site.stack);
  std::reverse(stack.begin(), stack.end());
  if (stack.empty()) {
    stack.push_back({"", "(no stack, in " + std::string(trace::PhaseName(site.phase)) + ")", 0});
  }
  return stack;
}

std::string FrameText(const trace::Frame& frame) {
  if (frame.file.empty()) return frame.function;
  return frame.function + " (" + analysis::ShortFrame(frame) + ")";
}

}  // namespace memtrace::interchange
