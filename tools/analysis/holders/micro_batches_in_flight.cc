// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/micro_batches_in_flight.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/source/layer_place.h"

namespace memtrace::analysis {
namespace {

// Blocks of one size that calls of a module made at one place of its code.
struct Alike {
  std::set<uint32_t> calls;  // Position::module_run
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  SiteId site = 0;

  // True if each call made one block, so that blocks count calls.
  bool counts_calls() const { return blocks == calls.size(); }
};

// Returns the frames of the innermost module's own code: callers of the module differ from one
// micro-batch to the next.
std::string InsideModule(const std::vector<trace::Frame>& stack) {
  std::string inside;
  for (const trace::Frame& frame : stack) {
    if (frame.file.ends_with("torch/nn/modules/module.py")) break;
    inside += frame.file + ":" + std::to_string(frame.line) + "\n";
  }
  return inside;
}

class FlightCounter {
 public:
  FlightCounter(const Position& now, const LiveSet& live, const EventSource& source,
                SiteNames& sites)
      : now_(now), live_(live), source_(source), sites_(sites) {}

  void Add(BlockId id);
  std::optional<MicroBatchesInFlight> Found() const;

 private:
  using Layer = std::pair<std::string, uint64_t>;
  using PlaceId = uint32_t;                                    // of the text of InsideModule
  using Key = std::tuple<trace::StringId, uint64_t, PlaceId>;  // module, bytes, place in it

  std::optional<Layer> LayerOf(trace::StringId path) const;
  bool IsOfForward(const Block& block) const {
    return block.birth.phase == trace::Phase::kForward && block.birth.step == now_.step &&
           block.allocation.module != 0;
  }
  PlaceId PlaceInModule(trace::StackId stack);
  std::map<Layer, uint64_t> CallsByLayer() const;

  const Position& now_;
  const LiveSet& live_;
  const EventSource& source_;
  SiteNames& sites_;
  std::map<Key, Alike> alike_;
  std::map<trace::StackId, PlaceId> places_;
  std::map<std::string, PlaceId> place_ids_;
  std::set<Layer> with_parameters_;
};

std::optional<FlightCounter::Layer> FlightCounter::LayerOf(trace::StringId path) const {
  const std::optional<LayerPlace> place = LayerPlaceOf(source_.String(path));
  if (!place) return std::nullopt;
  return Layer(place->name, place->layer);
}

FlightCounter::PlaceId FlightCounter::PlaceInModule(trace::StackId stack) {
  const auto [place, is_new] = places_.try_emplace(stack);
  if (is_new) {
    const auto next = static_cast<PlaceId>(place_ids_.size());
    place->second = place_ids_.try_emplace(InsideModule(source_.Stack(stack)), next).first->second;
  }
  return place->second;
}

void FlightCounter::Add(BlockId id) {
  const Block& block = live_.block(id);
  const Identity identity = MainIdentity(id, live_, source_.best_evidence());
  if (identity.role == trace::Role::kParameter && identity.path != 0) {
    if (const std::optional<Layer> layer = LayerOf(identity.path)) with_parameters_.insert(*layer);
  }
  if (identity.role != trace::Role::kActivation || !IsOfForward(block)) return;
  const trace::Allocate& allocation = block.allocation;
  Alike& alike = alike_[{allocation.module, allocation.requested, PlaceInModule(allocation.stack)}];
  alike.calls.insert(block.birth.module_run);
  ++alike.blocks;
  alike.bytes += allocation.requested;
  alike.site = SiteOf(block, identity, sites_);
}

std::map<FlightCounter::Layer, uint64_t> FlightCounter::CallsByLayer() const {
  std::map<Layer, uint64_t> calls;
  for (const auto& [key, alike] : alike_) {
    const std::optional<Layer> layer = LayerOf(std::get<0>(key));
    if (!layer || !alike.counts_calls()) continue;
    uint64_t& most = calls[*layer];
    most = std::max(most, alike.blocks);
  }
  return calls;
}

std::optional<MicroBatchesInFlight> FlightCounter::Found() const {
  std::vector<uint64_t> counts;
  for (const auto& [layer, calls] : CallsByLayer())
    if (with_parameters_.contains(layer)) counts.push_back(calls);
  if (counts.empty() || counts.size() * 2 < with_parameters_.size()) return std::nullopt;
  std::sort(counts.begin(), counts.end());
  MicroBatchesInFlight found{.count = counts[counts.size() / 2], .bytes = 0, .by_site = {}};
  for (const auto& [key, alike] : alike_) {
    // The backward pass of one of them may have begun.
    const bool is_of_all = alike.blocks == found.count || alike.blocks + 1 == found.count;
    if (!is_of_all || !alike.counts_calls() || !LayerOf(std::get<0>(key))) continue;
    found.bytes += alike.bytes;
    found.by_site[sites_.Name(alike.site)] += alike.bytes;
  }
  return found;
}

}  // namespace

std::optional<MicroBatchesInFlight> FindMicroBatchesInFlight(
    const std::vector<CapturedBlock>& captured, const Position& now, const LiveSet& live,
    const EventSource& source, SiteNames& sites) {
  FlightCounter counter(now, live, source, sites);
  for (const CapturedBlock& entry : captured)
    if (!entry.waiting && live.block(entry.id).allocation.requested > 0) counter.Add(entry.id);
  return counter.Found();
}

}  // namespace memtrace::analysis
