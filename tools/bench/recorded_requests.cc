// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/recorded_requests.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "allocator/blocks/size_policy.h"
#include "profiler/trace/events/event.h"

namespace memtrace::bench {
namespace {

// The requests of one card.
class CardRequests {
 public:
  void Add(const trace::Allocate& allocate) {
    if (allocate.requested == 0) return;
    alive_[allocate.address] = builder_.Allocate(allocate.requested, allocate.stream);
  }
  void Add(const trace::FreeCompleted& free) {
    const auto block = alive_.find(free.address);
    if (block == alive_.end()) return;
    builder_.Free(block->second);
    alive_.erase(block);
  }
  void BeginStep() { builder_.BeginStep(); }
  RequestSequence Finish() { return builder_.Finish(); }

 private:
  SequenceBuilder builder_;
  absl::flat_hash_map<uint64_t, uint32_t> alive_;  // address -> block
};

class ByCard {
 public:
  void Add(const trace::Allocate& allocate) { cards_[allocate.device].Add(allocate); }
  void Add(const trace::FreeCompleted& free) { cards_[free.device].Add(free); }
  void Add(const trace::Step& /*step*/) {
    for (auto& [device, card] : cards_) card.BeginStep();
  }
  // Ignores events that change nothing here.
  template <
      trace::OneOf<trace::FreeRequested, trace::Reserve, trace::Map, trace::Unmap, trace::Relabel,
                   trace::PhaseChange, trace::TagChange, trace::Annotate, trace::OutOfMemory,
                   trace::CardSample, trace::Lost, trace::OutsideAllocate, trace::OutsideFree,
                   trace::Resume, trace::Alive, trace::Activity, trace::Moved>
          Ignored>
  void Add(const Ignored&) {}

  std::map<int32_t, RequestSequence> Finish() {
    std::map<int32_t, RequestSequence> found;
    for (auto& [device, card] : cards_) {
      RequestSequence sequence = card.Finish();
      if (sequence.blocks > 0) found.emplace(device, std::move(sequence));
    }
    return found;
  }

 private:
  std::map<int32_t, CardRequests> cards_;
};

// Calls `visit` with the bytes alive after each request, by its place.
void VisitLive(const RequestSequence& sequence, const std::function<void(size_t, Bytes)>& visit) {
  std::vector<Bytes> sizes(sequence.blocks);
  Bytes live = 0;
  for (size_t i = 0; i < sequence.requests.size(); ++i) {
    const Request& request = sequence.requests[i];
    if (request.IsAllocation()) {
      live += sizes[request.block] = RoundedSize(request.bytes);
    } else if (request.IsFree()) {
      live -= sizes[request.block];
    }
    visit(i, live);
  }
}

}  // namespace

uint32_t SequenceBuilder::Allocate(Bytes bytes, uint64_t stream) {
  const auto next = static_cast<uint32_t>(streams_.size());
  const uint32_t number = streams_.try_emplace(stream, next).first->second;
  uint32_t block = sequence_.blocks;
  if (unused_.empty()) {
    ++sequence_.blocks;
  } else {
    block = unused_.back();
    unused_.pop_back();
  }
  sequence_.requests.push_back({bytes, block, number});
  return block;
}

void SequenceBuilder::Free(uint32_t block) {
  sequence_.requests.push_back({.block = block});
  unused_.push_back(block);
}

void SequenceBuilder::BeginStep() { sequence_.requests.push_back({.block = Request::kStep}); }

RequestSequence SequenceBuilder::Finish() {
  sequence_.streams = static_cast<uint32_t>(streams_.size());
  return std::move(sequence_);
}

std::map<int32_t, RequestSequence> RequestsByCard(const analysis::EventSource& source) {
  ByCard cards;
  source.ForEach([&](const trace::Event& event) {
    std::visit([&](const auto& payload) { cards.Add(payload); }, event.payload);
  });
  return cards.Finish();
}

Bytes LivePeak(const RequestSequence& sequence) {
  Bytes peak = 0;
  VisitLive(sequence, [&](size_t, Bytes live) { peak = std::max(peak, live); });
  return peak;
}

std::vector<Bytes> LiveCurve(const RequestSequence& sequence, size_t points) {
  const size_t distance = std::max<size_t>(1, sequence.requests.size() / points);
  std::vector<Bytes> curve;
  VisitLive(sequence, [&](size_t i, Bytes live) {
    if (i % distance == 0) curve.push_back(live);
  });
  return curve;
}

}  // namespace memtrace::bench
