// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include "profiler/trace/events/visit.h"
#include "tools/interchange/writers/perfetto_packets.h"
#include "tools/interchange/writers/rows/levels.h"
#include "tools/interchange/writers/rows/site_totals.h"
#include "tools/interchange/writers/timeline_writers.h"

namespace memtrace::interchange {
namespace {

class PerfettoTimeline {
 public:
  PerfettoTimeline(const ExportedRun& run, ByteSink& sink)
      : run_(run),
        packets_(sink, ProcessOf(run), ProcessName(run), run.facts.started_unix_ns),
        steps_(packets_.AddTrack("steps")),
        phases_(packets_.AddTrack("phases")),
        moments_(packets_.AddTrack("out of memory, peaks, marks")),
        levels_(run) {}

  void Apply(const trace::Event& event) {
    levels_.Apply(event);
    for (const size_t place : levels_.changed()) Count(place, event.time_ns);
    for (const auto& [device, card] : run_.survey.timeline().cards()) {
      if (card.peak_event == levels_.walk().ordinal()) Peak(device, card.peak, event.time_ns);
    }
    trace::Visit([&](const auto& payload) { Apply(payload, event.time_ns); }, event.payload);
  }

  void Finish() {
    const uint64_t end = run_.survey.timeline().counts().last_ns;
    if (in_step_) packets_.End(end, steps_);
    if (in_phase_) packets_.End(end, phases_);
  }

 private:
  static std::string ProcessName(const ExportedRun& run) {
    const std::string rank = run.facts.rank.empty() ? "" : "rank " + run.facts.rank + " ";
    return rank + (run.facts.command.empty() ? "memtrace" : run.facts.command);
  }

  void Count(size_t place, uint64_t time_ns) {
    const Level& level = levels_.levels()[place];
    if (place >= counters_.size()) {
      counters_.resize(place + 1);
      counters_[place] = packets_.AddByteCounter(levels_.NameOf(level), Group(level));
    }
    packets_.Count(time_ns, counters_[place], level.bytes);
  }

  PerfettoTrack Group(const Level& level) {
    const std::string card = "GPU " + std::to_string(level.device);
    const std::string name = level.kind == LevelKind::kRole    ? card + " by role"
                             : level.kind == LevelKind::kOwner ? card + " by owner"
                                                               : card;
    const auto [entry, is_new] = groups_.try_emplace(name, 0);
    if (is_new) entry->second = packets_.AddGroup(name);
    return entry->second;
  }

  void Apply(const trace::Step& step, uint64_t time_ns) {
    if (in_step_) packets_.End(time_ns, steps_);
    packets_.Begin(time_ns, steps_, "step " + std::to_string(step.number));
    in_step_ = true;
  }

  void Apply(const trace::PhaseChange& change, uint64_t time_ns) {
    if (in_phase_) packets_.End(time_ns, phases_);
    in_phase_ = change.phase != trace::Phase::kOther;
    if (in_phase_) packets_.Begin(time_ns, phases_, trace::PhaseName(change.phase));
  }

  void Peak(int32_t device, uint64_t bytes, uint64_t time_ns) {
    packets_.Instant(time_ns, moments_, "peak of GPU " + std::to_string(device),
                     {{"device", int64_t{device}}, {"live_bytes", static_cast<int64_t>(bytes)}});
  }

  void Apply(const trace::OutOfMemory& failed, uint64_t time_ns) {
    PerfettoArguments arguments = {{"device", int64_t{failed.device}},
                                   {"requested", static_cast<int64_t>(failed.requested)},
                                   {"obtainable", static_cast<int64_t>(failed.obtainable)},
                                   {"stack", StackText(failed.stack, run_)}};
    for (const trace::CardLedger& card : failed.cards) {
      const std::string name = "GPU " + std::to_string(card.device) + " ";
      arguments.emplace_back(name + "total", static_cast<int64_t>(card.total));
      arguments.emplace_back(name + "free", static_cast<int64_t>(card.free));
      arguments.emplace_back(name + "reserved", static_cast<int64_t>(card.reserved));
      arguments.emplace_back(name + "live", static_cast<int64_t>(card.live_requested));
      arguments.emplace_back(name + "largest_hole", static_cast<int64_t>(card.largest_hole));
    }
    packets_.Instant(time_ns, moments_, "out of memory", arguments);
  }

  // Ignores events that change nothing here.
  template <
      trace::OneOf<trace::Allocate, trace::FreeRequested, trace::FreeCompleted, trace::Reserve,
                   trace::Map, trace::Unmap, trace::Relabel, trace::TagChange, trace::Annotate,
                   trace::CardSample, trace::Lost, trace::OutsideAllocate, trace::OutsideFree,
                   trace::Resume, trace::Alive, trace::Activity, trace::Moved>
          Ignored>
  void Apply(const Ignored&, uint64_t) {}

  const ExportedRun& run_;
  PerfettoPackets packets_;
  PerfettoTrack steps_;
  PerfettoTrack phases_;
  PerfettoTrack moments_;
  Levels levels_;
  std::vector<PerfettoTrack> counters_;  // by place in levels()
  std::map<std::string, PerfettoTrack> groups_;
  bool in_step_ = false;
  bool in_phase_ = false;
};

}  // namespace

void WritePerfetto(const ExportedRun& run, ByteSink& sink) {
  PerfettoTimeline timeline(run, sink);
  run.events.ForEach([&timeline](const trace::Event& event) { timeline.Apply(event); });
  timeline.Finish();
}

std::string StackText(trace::StackId stack, const ExportedRun& run) {
  std::string text;
  for (const trace::Frame& frame : run.events.Stack(stack)) {
    text += (text.empty() ? "" : "\n") + FrameText(frame);
  }
  return text;
}

}  // namespace memtrace::interchange
