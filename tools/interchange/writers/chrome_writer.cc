// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Trace Event Format, as torch.profiler (Kineto) uses it.
#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/numbers.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/events/visit.h"
#include "tools/interchange/writers/rows/event_detail.h"
#include "tools/interchange/writers/rows/levels.h"
#include "tools/interchange/writers/timeline_writers.h"

namespace memtrace::interchange {
namespace {

using Json = nlohmann::ordered_json;

class ChromeTimeline {
 public:
  ChromeTimeline(const ExportedRun& run, ByteSink& sink) : run_(run), sink_(sink), levels_(run) {}

  void Begin() {
    int64_t world_size = 1;
    if (!absl::SimpleAtoi(run_.facts.world_size, &world_size)) world_size = 1;
    const Json distributed = {
        {"backend", "nccl"}, {"rank", RankOf(run_)}, {"world_size", world_size}};
    sink_.Write("{\"schemaVersion\":1,\"distributedInfo\":" + CompactJson(distributed) +
                ",\"memtrace\":" + CompactJson({{"schema", "memtrace.chrome/1"}}) +
                ",\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    Json name = Event("M", "process_name", 0);
    name["args"] = {{"name", run_.facts.command}};
    Emit(name);
  }

  void Apply(const trace::Event& event) {
    levels_.Apply(event);
    for (const size_t place : levels_.changed()) Count(levels_.levels()[place], event.time_ns);
    trace::Visit([&](const auto& payload) { Apply(payload, event.time_ns); }, event.payload);
  }

  void Finish() {
    const uint64_t end = run_.survey.timeline().counts().last_ns;
    EndSlice(step_, step_ns_, end, kSteps);
    EndSlice(phase_, phase_ns_, end, kPhases);
    sink_.Write("\n]}\n");
  }

 private:
  // Threads that a viewer shows as rows.
  static constexpr int kMemory = 1;
  static constexpr int kSteps = 2;
  static constexpr int kPhases = 3;

  // Times are microseconds with three decimals, as Kineto writes them.
  Json Event(const char* kind, const std::string& name, uint64_t time_ns) const {
    return {{"ph", kind},
            {"name", name},
            {"pid", ProcessOf(run_)},
            {"tid", kMemory},
            {"ts", static_cast<double>(time_ns) / 1000.0}};
  }

  void Emit(const Json& event) {
    sink_.Write((first_ ? "" : ",\n") + CompactJson(event));
    first_ = false;
  }

  void Count(const Level& level, uint64_t time_ns) {
    const std::string card = "GPU " + std::to_string(level.device);
    const std::string what = level.kind == LevelKind::kRole    ? " by role"
                             : level.kind == LevelKind::kOwner ? " by owner"
                                                               : "";
    Json event = Event("C", card + what + ": " + levels_.NameOf(level), time_ns);
    event["args"] = {{"bytes", level.bytes}};
    Emit(event);
  }

  void Memory(const WalkedBlock& block, uint64_t time_ns, int sign) {
    const trace::Allocate& allocation = block.allocation;
    const Identity& identity = run_.survey.blocks().Main(block.number);
    constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();  // no real block has more
    const auto bytes = static_cast<int64_t>(std::min(allocation.requested, kMost));
    Json event = Event("i", "[memory]", time_ns);
    event["cat"] = "cpu_instant_event";
    event["s"] = "t";
    event["args"] = {{"Total Reserved", levels_.Bytes(allocation.device, LevelKind::kReserved)},
                     {"Total Allocated", levels_.Bytes(allocation.device, LevelKind::kLive)},
                     {"Bytes", sign * bytes},
                     {"Addr", allocation.address},
                     {"Device Id", allocation.device},
                     {"Device Type", 1},
                     {"Role", trace::RoleName(identity.role)},
                     {"Role Known", analysis::EvidenceName(identity.evidence)}};
    if (identity.owner != 0) event["args"]["Owner"] = run_.events.String(identity.owner);
    if (allocation.module != 0) event["args"]["Module"] = run_.events.String(allocation.module);
    Emit(event);
  }

  void EndSlice(const std::string& name, uint64_t begin, uint64_t end, int thread) {
    if (name.empty()) return;
    Json event = Event("X", name, begin);
    event["tid"] = thread;
    event["cat"] = "user_annotation";
    event["dur"] = static_cast<double>(end - begin) / 1000.0;
    Emit(event);
  }

  void Apply(const trace::Allocate& /*allocation*/, uint64_t time_ns) {
    Memory(*levels_.walk().block(), time_ns, 1);
  }

  void Apply(const trace::FreeCompleted& /*free*/, uint64_t time_ns) {
    if (levels_.walk().ended() != nullptr) Memory(*levels_.walk().ended(), time_ns, -1);
  }

  void Apply(const trace::Step& step, uint64_t time_ns) {
    EndSlice(step_, step_ns_, time_ns, kSteps);
    step_ = "ProfilerStep#" + std::to_string(step.number);  // the name that HTA looks for
    step_ns_ = time_ns;
  }

  void Apply(const trace::PhaseChange& change, uint64_t time_ns) {
    EndSlice(phase_, phase_ns_, time_ns, kPhases);
    phase_ =
        change.phase == trace::Phase::kOther ? "" : std::string(trace::PhaseName(change.phase));
    phase_ns_ = time_ns;
  }

  void Apply(const trace::OutOfMemory& failed, uint64_t time_ns) {
    Json event = Event("i", "out of memory", time_ns);
    event["s"] = "g";
    Json cards = Json::array();
    for (const trace::CardLedger& card : failed.cards) cards.push_back(LedgerJson(card));
    event["args"] = {{"device", failed.device},
                     {"requested", failed.requested},
                     {"obtainable", failed.obtainable},
                     {"stack", StackText(failed.stack, run_)},
                     {"cards", std::move(cards)}};
    Emit(event);
  }

  // Ignores events that change nothing here.
  template <trace::OneOf<trace::FreeRequested, trace::Reserve, trace::Map, trace::Unmap,
                         trace::Relabel, trace::TagChange, trace::Annotate, trace::CardSample,
                         trace::Lost, trace::OutsideAllocate, trace::OutsideFree, trace::Resume,
                         trace::Alive, trace::Activity, trace::Moved>
                Ignored>
  void Apply(const Ignored&, uint64_t) {}

  const ExportedRun& run_;
  ByteSink& sink_;
  Levels levels_;
  bool first_ = true;
  std::string step_;  // empty: none has begun
  uint64_t step_ns_ = 0;
  std::string phase_;
  uint64_t phase_ns_ = 0;
};

}  // namespace

void WriteChrome(const ExportedRun& run, ByteSink& sink) {
  ChromeTimeline timeline(run, sink);
  timeline.Begin();
  run.events.ForEach([&timeline](const trace::Event& event) { timeline.Apply(event); });
  timeline.Finish();
}

}  // namespace memtrace::interchange
