// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/recorded_run.h"

#include <algorithm>
#include <map>
#include <variant>

#include "profiler/trace/reading/mapped_ranges.h"
#include "tools/analysis/replay/event_device.h"
#include "tools/analysis/replayed/block_lives.h"

namespace memtrace::replay {
namespace {

using trace::Event;

// A release that was followed by growth. It is only a candidate until the largest reserved sum is
// known at the end.
struct Candidate {
  uint64_t sequence = 0;
  Bytes wanted = 0;  // reserved before, and the growth
};

class DeviceWatch {
 public:
  explicit DeviceWatch(const TorchSettings& settings) : settings_(settings) {}

  void See(const Event& event) {
    if (std::holds_alternative<trace::Map>(event.payload)) {
      EndSample(std::get<trace::Map>(event.payload).size);
    } else if (std::holds_alternative<trace::Allocate>(event.payload)) {
      EndSample(0);
    }
    lives_.Apply(event.payload, [&](const auto& happened) { Apply(event.sequence, happened); });
  }

  // A growth that would have fitted into what the allocator had at another time was not refused, so
  // the program gave back the memory before it.
  RecordedDevice Finish() {
    EndRelease();
    EndSample(0);
    const bool releases_itself =
        settings_.gc_threshold > 0 || settings_.max_split != TorchSettings::kNoLimit;
    for (const Candidate& candidate : candidates_) {
      if (!releases_itself && candidate.wanted <= peak_reserved_)
        device_.empty_cache.push_back(candidate.sequence);
    }
    std::sort(device_.empty_cache.begin(), device_.empty_cache.end());
    return device_;
  }

  bool has_allocations() const { return device_.allocations > 0; }
  // True if each growth was just what a policy without expandable segments requests from the
  // driver.
  bool looks_native() const { return expandable_growths_ == 0; }

 private:
  using Lives = analysis::BlockLives<Bytes>;

  // Ignores events that change nothing here.
  template <
      trace::OneOf<Lives::Ended, trace::Reserve, trace::Relabel, trace::Step, trace::PhaseChange,
                   trace::TagChange, trace::Annotate, trace::Lost, trace::OutsideAllocate,
                   trace::OutsideFree, trace::Resume, trace::Activity, trace::Moved>
          Ignored>
  void Apply(uint64_t, const Ignored&) {}

  void Apply(uint64_t, const Lives::Born& born) {
    const trace::Allocate& block = born.allocation;
    EndRelease();
    ++device_.allocations;
    device_.ends_in_failure = false;
    if (!mapped_.Contains(block.address)) device_.is_complete = false;
    JudgeGrowth(block);
    born.block = RoundedUp(block);
    Rise(born.block);
  }
  void Apply(uint64_t, const Lives::Found& found) {
    found.block = RoundedUp(found.alive.block);
    if (found.alive.waiting == 0) Rise(found.block);
  }
  void Apply(uint64_t, const Lives::LetGo& let_go) {
    if (let_go.by == analysis::FreeBy::kRequest) EndRelease();
    live_ -= let_go.block;
  }
  void Apply(uint64_t, const Lives::Stray& stray) {
    if (stray.by == analysis::FreeBy::kRequest) EndRelease();
  }
  void Apply(uint64_t, const trace::Map& map) {
    mapped_.Map(map.address, map.size);
    if (release_) candidates_.push_back({release_->sequence, release_->wanted + map.size});
    release_.reset();
    reserved_ += map.size;
    peak_reserved_ = std::max(peak_reserved_, reserved_);
    last_map_ = map;
  }
  void Apply(uint64_t sequence, const trace::Unmap& unmap) {
    mapped_.Unmap(unmap.address, unmap.size);
    if (!release_) release_ = {sequence, reserved_};
    reserved_ -= std::min(reserved_, unmap.size);
  }
  void Apply(uint64_t, const trace::OutOfMemory& failure) {
    release_.reset();
    device_.ends_in_failure = true;
    for (const trace::CardLedger& card : failure.cards) {
      if (card.device == failure.device) Note(card);
    }
  }
  void Apply(uint64_t, const trace::CardSample& sample) { Note(sample.card); }

  // The event after a release tells who gave memory back: before growth, perhaps the allocator
  // itself.
  void EndRelease() {
    if (release_) device_.empty_cache.push_back(release_->sequence);
    release_.reset();
  }

  static Bytes RoundedUp(const trace::Allocate& block) {
    return RoundUp(std::max<Bytes>(block.requested, 1), TorchSettings::kUnit);
  }

  void Rise(Bytes bytes) {
    live_ += bytes;
    device_.lower_bound = std::max(device_.lower_bound, live_);
  }

  void JudgeGrowth(const trace::Allocate& block) {
    if (last_map_.size == 0) return;
    const Bytes rounded = settings_.Rounded(block.requested);
    const bool as_native =
        last_map_.address == block.address && last_map_.size == settings_.SegmentFor(rounded);
    const bool is_inside = block.address < last_map_.address + last_map_.size &&
                           block.address + rounded > last_map_.address;
    if (!as_native && is_inside) ++expandable_growths_;
    last_map_ = {};
  }

  void Note(const trace::CardLedger& card) {
    if (card.total != 0) {
      device_.card = card.total;
      given_ = std::max(given_, card.context + card.other_processes);
      outside_ = std::max(outside_, card.outside_allocator);
    } else if (card.free != 0) {
      device_.usable = std::max(device_.usable.value_or(0), reserved_ + card.free);
    }
  }

  // An observed allocator states what it mapped only after the driver gave it, so samples in
  // between count it, or a part of it, as outside.
  void EndSample(Bytes mapped) {
    device_.rest = std::max(device_.rest, given_ + outside_ - std::min(outside_, mapped));
    given_ = 0;
    outside_ = 0;
  }

  const TorchSettings& settings_;
  RecordedDevice device_;
  std::optional<Candidate> release_;
  Bytes given_ = 0;  // to the context and other processes; since the latest block or mapping
  Bytes outside_ = 0;
  std::vector<Candidate> candidates_;
  trace::Map last_map_;
  Lives lives_;  // the rounded bytes of each block
  trace::MappedRanges mapped_;
  Bytes live_ = 0;
  Bytes reserved_ = 0;
  Bytes peak_reserved_ = 0;
  uint64_t expandable_growths_ = 0;
};

PolicyKind KindOf(const std::string& allocator, const std::string& conf, bool expands,
                  bool looks_native) {
  if (allocator == "memtrace") return PolicyKind::kMemtrace;
  const bool is_said = conf.find("expandable_segments") != std::string::npos;
  if (is_said ? expands : !looks_native) return PolicyKind::kTorchExpandable;
  return PolicyKind::kTorchNative;
}

}  // namespace

RecordedRun RecordedRun::Of(const analysis::EventSource& source, const std::string& allocator,
                            const std::string& settings, const std::string& writer) {
  RecordedRun run;
  run.says_pools = !writer.empty();
  run.settings = TorchSettings::Parse(settings);
  std::map<int32_t, DeviceWatch> watches;
  source.ForEach([&](const Event& event) {
    const int32_t device = DeviceOf(event);
    if (device >= 0) watches.try_emplace(device, run.settings).first->second.See(event);
  });
  bool looks_native = true;
  for (auto& [number, watch] : watches) {
    looks_native = looks_native && watch.looks_native();
    if (watch.has_allocations()) run.devices[number] = watch.Finish();
  }
  run.policy = KindOf(allocator, settings, run.settings.expands, looks_native);
  return run;
}

}  // namespace memtrace::replay
