// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/views/run_detail.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "tools/analysis/replayed/block_walk.h"
#include "tools/analysis/replayed/mapped_segments.h"
#include "tools/analysis/views/block_index.h"

namespace memtrace::analysis {
namespace {

// Returns the ranges in order, without overlaps.
std::vector<EventRange> Joined(std::vector<EventRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const EventRange& a, const EventRange& b) { return a.first < b.first; });
  std::vector<EventRange> joined;
  for (const EventRange& range : ranges) {
    if (!joined.empty() && range.first <= joined.back().last + 1) {
      joined.back().last = std::max(joined.back().last, range.last);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

// Returns the ranges in which every event counts: around the report's moment, the peak, and the
// last failures.
std::vector<EventRange> ExactRanges(const Explanation& explanation, const CardExplanation& card,
                                    const DetailLimits& limits) {
  std::vector<uint64_t> moments = limits.moments;
  moments.push_back(card.when.ordinal);
  if (const auto timeline = explanation.timelines.find(card.index);
      timeline != explanation.timelines.end()) {
    moments.push_back(timeline->second.peak_event);
    const std::vector<uint64_t>& failures = timeline->second.failures;
    const size_t kept = std::min(failures.size(), limits.failures);
    moments.insert(moments.end(), failures.end() - static_cast<ptrdiff_t>(kept), failures.end());
  }
  std::vector<EventRange> ranges;
  for (const uint64_t event : moments) {
    if (event == 0) continue;
    ranges.push_back({event - std::min(event - 1, limits.around),
                      std::min(explanation.run.counts.events, event + limits.around)});
  }
  return Joined(std::move(ranges));
}

// The times of events.
class Clock {
 public:
  Clock(const std::vector<CardDetail>& cards, uint64_t events, size_t most)
      : cards_(cards), events_(events), stride_(events / most + 1) {}

  void Apply(const trace::Event& event) {
    ++event_;
    if (event_ % stride_ == 1 % stride_ || event_ == events_ || IsExact())
      points_.push_back({event_, event.time_ns});
  }
  std::vector<ClockPoint> Take() { return std::move(points_); }

 private:
  bool IsExact() const {
    return std::any_of(cards_.begin(), cards_.end(), [this](const CardDetail& card) {
      return std::any_of(
          card.choice.exact.begin(), card.choice.exact.end(),
          [this](const EventRange& of) { return of.first <= event_ && event_ <= of.last; });
    });
  }

  const std::vector<CardDetail>& cards_;
  uint64_t events_;
  uint64_t stride_;
  uint64_t event_ = 0;
  std::vector<ClockPoint> points_;
};

// The reading that follows that of the curve, for names and pieces.
class CardReader {
 public:
  CardReader(const BlockIndex& blocks, Origins& origins, CardDetail& card)
      : blocks_(blocks),
        origins_(origins),
        card_(card),
        owners_(card.curve, [&origins](OriginId id) { return origins.Owner(id); }),
        modules_(card.curve, [&origins](OriginId id) { return origins.Module(id); }),
        lines_(card.curve, [&origins](OriginId id) { return origins.Line(id); }),
        table_(blocks, origins, card.choice) {}

  void Apply(const trace::Event& event) {
    walk_.Apply(event);
    if (const WalkedBlock* block = walk_.let_go()) Count(*block, false);
    if (const WalkedBlock* block = walk_.ended(); block != nullptr && IsOurs(*block))
      table_.Add(*block, walk_.ordinal());
    if (const WalkedBlock* block = walk_.block(); block != nullptr && IsBirth(event, *block))
      Count(*block, true);
    NoteRanges(event);
    for (UsageGrouper* grouper : {&owners_, &modules_, &lines_}) grouper->EndOf(walk_.ordinal());
  }

  void Finish(size_t keys) {
    walk_.ForEachLiving(card_.index, [this](const WalkedBlock& block) { table_.Add(block, 0); });
    card_.pieces = table_.Sorted();
    card_.by_owner = owners_.Finish(keys);
    card_.by_module = modules_.Finish(keys);
    card_.by_line = lines_.Finish(keys);
    segments_.ForEach(/*joined=*/false, [this](const MappedSegment& segment) { Keep(segment); });
    std::sort(card_.mapped.begin(), card_.mapped.end(),
              [](const AddressRange& a, const AddressRange& b) {
                return std::tie(a.from, a.address) < std::tie(b.from, b.address);
              });
  }

 private:
  bool IsOurs(const WalkedBlock& block) const { return block.allocation.device == card_.index; }
  static bool IsBirth(const trace::Event& event, const WalkedBlock& block) {
    return std::holds_alternative<trace::Allocate>(event.payload) ||
           (std::holds_alternative<trace::Alive>(event.payload) && !block.free_requested);
  }

  void Count(const WalkedBlock& block, bool born) {
    if (!IsOurs(block)) return;
    for (const Part& part : blocks_.Parts(block.number, block.allocation.requested)) {
      const OriginId origin = origins_.Of(block, part.identity);
      for (UsageGrouper* grouper : {&owners_, &modules_, &lines_})
        grouper->Count(origin, part.bytes, born);
    }
  }

  void NoteRanges(const trace::Event& event) {
    segments_.Apply(event, [this](const MappedSegment& segment) { Keep(segment); });
    const auto* reserve = std::get_if<trace::Reserve>(&event.payload);
    if (reserve != nullptr && reserve->device == card_.index)
      card_.reserved.push_back({reserve->address, reserve->size, walk_.ordinal(), 0});
  }
  void Keep(const MappedSegment& segment) {
    if (segment.device != card_.index) return;
    card_.mapped.push_back({segment.address, segment.size, segment.mapped.ordinal,
                            segment.unmapped ? segment.unmapped->ordinal : 0});
  }

  const BlockIndex& blocks_;
  Origins& origins_;
  CardDetail& card_;
  UsageGrouper owners_;
  UsageGrouper modules_;
  UsageGrouper lines_;
  PieceTable table_;
  BlockWalk walk_;
  MappedSegments segments_;
};

}  // namespace

RunDetail DetailOf(const EventSource& source, const Explanation& explanation,
                   const DetailLimits& limits) {
  RunDetail detail(source);
  for (const CardExplanation& explained : explanation.cards) {
    CardDetail& card = detail.cards.emplace_back();
    card.index = explained.index;
    card.choice.exact = ExactRanges(explanation, explained, limits);
  }
  Clock clock(detail.cards, explanation.run.counts.events, limits.clock);
  BlockIndex blocks(source.best_evidence());
  source.ForEach([&](const trace::Event& event) {
    blocks.Apply(event);
    clock.Apply(event);
  });
  blocks.Finish();
  detail.clock = clock.Take();
  for (CardDetail& card : detail.cards) {
    card.curve = CurveOf(source, blocks,
                         {.device = card.index,
                          .events = explanation.run.counts.events,
                          .levels = limits.levels,
                          .columns = limits.columns,
                          .edges = card.choice.exact});
    card.choice.least = LeastBytesFor(card.curve, limits.pieces / explanation.cards.size());
    CardReader reader(blocks, detail.origins, card);
    source.ForEach([&reader](const trace::Event& event) { reader.Apply(event); });
    reader.Finish(limits.keys);
  }
  return detail;
}

}  // namespace memtrace::analysis
