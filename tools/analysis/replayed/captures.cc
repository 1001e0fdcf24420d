// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/captures.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "profiler/trace/events/visit.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::analysis {
namespace {

constexpr std::string_view kProcesses = trace::fact::kCardProcesses.prefix();

// A context is made by the first use of a card, often after the only sample before the moment. It
// stays until the process ends, so a later sample tells its size. Its bytes are those that the
// earlier sample leaves unexplained; any more were free then.
void AddContext(trace::CardLedger& sample, const trace::CardLedger& later) {
  if (sample.context != 0 || later.context == 0) return;
  sample.context = later.context;
  const uint64_t known = sample.free + sample.reserved + sample.other_processes +
                         sample.outside_allocator + sample.context;
  const uint64_t too_much = known - std::min(known, sample.total);
  sample.free -= std::min(sample.free, too_much);
}

// Memory that slept or was on the host when a later sample was taken need not have been there
// before.
trace::CardLedger WithoutOffCard(trace::CardLedger sample) {
  sample.asleep = sample.on_host = sample.host_copies = sample.host_pooled = 0;
  return sample;
}

}  // namespace

void Captures::At(uint64_t ordinal, int32_t device, std::function<void(CapturedCard)> take) {
  At(ordinal, [this, device, take = std::move(take)] { take(Capture(device)); });
}

void Captures::At(uint64_t ordinal, std::function<void()> look) {
  looks_.emplace(ordinal, std::move(look));
}

void Captures::Read(const EventSource& source) {
  auto next = looks_.cbegin();
  const auto look = [&] {
    for (; next != looks_.cend() && next->first <= now_.ordinal; ++next) next->second();
  };
  look();
  source.ForEach([&](const trace::Event& event) {
    ++now_.ordinal;
    now_.sequence = event.sequence;
    now_.time_ns = event.time_ns;
    live_.Apply(event);
    outside_.Apply(event);
    moved_.Apply(event);
    segments_.Apply(event, [](const MappedSegment&) {});
    trace::Visit([&](const auto& payload) { Apply(payload, source); }, event.payload);
    if (next != looks_.cend()) look();
  });
}

void Captures::Apply(const trace::CardSample& sample, const EventSource& /*source*/) {
  samples_[sample.card.device] = sample.card;
}

void Captures::Apply(const trace::OutOfMemory& failed, const EventSource& /*source*/) {
  for (const trace::CardLedger& card : failed.cards) samples_[card.device] = card;
}

void Captures::Apply(const trace::Annotate& fact, const EventSource& source) {
  if (source.String(fact.key).starts_with(kProcesses))
    processes_[std::string(source.String(fact.key))] = source.String(fact.value);
}

CapturedCard Captures::Capture(int32_t device) {
  CapturedCard card;
  card.when = now_;
  card.when.at = live_.position();
  card.blocks = live_.Capture(device);
  card.outside = outside_.Capture(device);
  const bool has_large_pages = timeline_.annotations().contains(trace::fact::kAllocatorLargePages);
  segments_.ForEach(true, [&](const MappedSegment& segment) {
    if (segment.device != device) return;
    card.segments.push_back(segment);
    if (!has_large_pages) card.segments.back().page = kGranule;
  });
  const auto timeline = timeline_.cards().find(device);
  std::optional<trace::CardLedger> sample;
  if (const auto latest = samples_.find(device); latest != samples_.end()) {
    sample = latest->second;
  } else if (timeline != timeline_.cards().end()) {
    if (timeline->second.first_sample) sample = WithoutOffCard(*timeline->second.first_sample);
  }
  const bool is_used = !card.blocks.empty() || !card.segments.empty();
  if (sample && is_used && timeline != timeline_.cards().end() && timeline->second.last_sample)
    AddContext(*sample, *timeline->second.last_sample);
  const auto processes = processes_.find(std::string(kProcesses) + std::to_string(device));
  if (processes != processes_.end()) card.processes = processes->second;
  std::optional<FreeMemory> free;
  if (!card.segments.empty()) free = FreeMemoryOf(MapSegments(card.blocks, live_, card.segments));
  card.ledger = LedgerFromReplay(card.blocks, live_, free, sample);
  return card;
}

Ledger Captures::LedgerAtEnd(int32_t device) {
  const auto timeline = timeline_.cards().find(device);
  return LedgerFromReplay(
      {}, live_, std::nullopt,
      timeline == timeline_.cards().end() ? std::nullopt : timeline->second.last_sample);
}

}  // namespace memtrace::analysis
