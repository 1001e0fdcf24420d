// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/process.h"

#include <pthread.h>

#include <cstdlib>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/status_macros.h"
#include "interpose/core/assumed_workspaces.h"
#include "interpose/core/cards/cache_settings.h"
#include "interpose/core/host_limit.h"
#include "interpose/core/outside/launch_processes.h"
#include "interpose/core/plan_of_process.h"
#include "interpose/core/program_scopes.h"
#include "interpose/core/recorded_text/recorded_paths.h"
#include "interpose/core/recorded_text/secrets.h"
#include "interpose/core/recorded_text/trace_name.h"
#include "interpose/core/room/launching_threads.h"
#include "interpose/core/sleeping_owners.h"
#include "interpose/core/spoken_sentence.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace {
namespace {

// True if a setting of the simulated card asks for it, meant for test suites that fork a child for
// each test.
bool CardsAreCopiedOnFork() { return env::Is(env::kCardFork, "copy"); }

absl::StatusOr<std::unique_ptr<trace::TraceWriter>> OpenWriter(
    const std::map<std::string, std::string>& info) {
  MEMTRACE_ASSIGN_OR_RETURN(const uint64_t keep, KeptBytes());
  return trace::TraceWriter::Open(
      ChooseTraceName(info), info,
      {.if_exists = trace::IfExists::kUseSibling, .keep_bytes = keep, .with_summary = true});
}

// Returns "process 4711 (rank 1)", or "process 4711" if nothing is known of it.
std::string NameOfProcess(int process) {
  const std::string relation = RelationTo(process);
  const std::string name = "process " + std::to_string(process);
  return relation == "process" ? name : name + " (" + relation + ")";
}

HeapOptions ReadOptions() {
  const CacheSettings cache =
      ReadCacheSettings(env::Text(env::kCacheLimit), env::Text(env::kCacheAge));
  for (const std::string& problem : cache.problems) PrintSentence(problem);
  HeapOptions options;
  options.plan = ReadPlanOfProcess();
  options.cache = cache.bounds;
  options.host_limit = HostLimit();
  options.spill = ReadSpillLimit();
  return options;
}

}  // namespace

Process& Process::Make() {
  static auto* process = new Process;
  instance.store(process, std::memory_order_release);
  return *process;
}

Process::Process() : is_recorded_(!env::Is(env::kTrace, "0")) {
  pthread_atfork([] { Get().LockForFork(); }, [] { Get().UnlockAfterFork(); },
                 [] { Get().BeginAnewInForkedChild(); });
  // Needed for programs without Python, whose package ends the trace earlier. A second Close does
  // nothing.
  std::atexit([] { Get().Close(); });
}

// The short locks are held across the fork, so that the child finds consistent tables. The long
// lock (mutex_) is not, because a driver may fork while it starts.
void Process::LockForFork() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  outside_.LockForFork();
  names_.LockForFork();
  stated_.LockForFork();
  callbacks_.LockForFork();
}

void Process::UnlockAfterFork() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  callbacks_.UnlockAfterFork();
  stated_.UnlockAfterFork();
  names_.UnlockAfterFork();
  outside_.UnlockAfterFork();
}

// The only thread of the child calls this before anything else runs there. The long lock is created
// anew, because another thread of the parent may have held it.
void Process::BeginAnewInForkedChild() {
  if (auto* recorder = recorder_.load()) recorder->trace().AbandonInForkedChild();
  activities_ = nullptr;
  room_.BeginAnewInForkedChild();
  // With copies of the cards, a child also goes on with copies of the allocators, unrecorded.
  if (!CardsAreCopiedOnFork()) {
    recorder_ = nullptr;
    cards_.AbandonInForkedChild();
  }
  new (&mutex_) Mutex;
  UnlockAfterFork();
}

absl::Status Process::Start(int device_count, memtrace_mode mode) {
  if (cards_.is_forked()) return absl::UnavailableError(kForked);
  {
    const MutexLock lock(mutex_);
    const bool is_started =
        cards_.is_started() || (mode == MEMTRACE_MODE_OUTSIDE && cards_.is_outside_started());
    if (is_started) return absl::OkStatus();
    MEMTRACE_RETURN_IF_ERROR(OpenCards(device_count, mode));
    ListenToOutsideMemory();
    const bool had_none = cards_.is_started() && cards_.is_outside_started();
    if (had_none && recorder() != nullptr) recorder()->program().BeginAllocator();
  }
  // torch's own allocator unmaps expandable segments of large blocks in pages of 20 MiB.
  if (mode == MEMTRACE_MODE_OBSERVE && recorder() != nullptr)
    recorder()->program().Annotate(trace::fact::kAllocatorLargePages, "1");
  if (recorder() != nullptr) LabelAssumedWorkspaces();
  NameSleepingOwnersInFaults();
  PassOnKeptScopes();
  BeginActivities(mode);
  // In mode OUTSIDE the first block already exists but is not recorded yet: it must not count as
  // context.
  if (mode != MEMTRACE_MODE_OUTSIDE) notes_.SampleCards();
  return absl::OkStatus();
}

absl::Status Process::OpenCards(int device_count, memtrace_mode mode) {
  if (is_recorded_) OpenTrace();
  // Set here and not in OpenTrace, because the trace may be older: it may have begun with outside
  // memory, before the framework was loaded.
  if (recorder() != nullptr && operations_.is_set())
    recorder()->scopes().SetOperations(&operations_);
  if (!is_recorded_ && mode != MEMTRACE_MODE_ALLOCATE) device_count = 0;
  HeapOptions options;
  if (mode == MEMTRACE_MODE_ALLOCATE) options = ReadOptions();
  if (options.plan != nullptr) notes_.EnablePlanReport();
  if (options.spill > 0) {
    LaunchingThreads::Enable();
    cards_.UseNoShortcut();  // so that threads are noted
  }
  AllocationObserver* observer = recorder() != nullptr ? &recorder()->blocks() : nullptr;
  return cards_.Open(device_count, mode, options, observer);
}

// No lock is held, because CUPTI may request buffers at any time.
void Process::BeginActivities(memtrace_mode mode) {
  if (recorder() == nullptr || activities() != nullptr) return;
  if (mode == MEMTRACE_MODE_OUTSIDE) return CardActivities::NoteIfUnavailable(*recorder());
  CardActivities* made = CardActivities::MakeIfWanted(*recorder());
  activities_.store(made, std::memory_order_release);
  if (made != nullptr) made->Begin();
}

// Beside an allocator, outside memory has events of its own; without one, it is the subject of the
// trace. The recorder is leaked like the process, because a thread may be about to call it.
void Process::ListenToOutsideMemory() {
  if (recorder() == nullptr) return;
  std::vector<ObservedMemory*> alone;
  if (!cards_.is_started()) {
    for (const ServedCard& card : cards_.all()) alone.push_back(card.observed.get());
  }
  outside_.SetListener(new OutsideRecorder(recorder()->program(), std::move(alone)));
}

void Process::OpenTrace() {
  if (recorder() != nullptr) return;
  std::map<std::string, std::string> info = ProcessFacts();
  info.merge(stated_.info());
  if (!env::Is(env::kKeepSecrets, "1")) info["command"] = WithoutSecrets(info["command"]);
  for (auto& [key, value] : info) value = AsRecorded(std::move(value));
  auto writer = OpenWriter(info);
  if (!writer.ok()) {
    PrintSentence("No trace is written (" + std::string(writer.status().message()) +
                  "). The program continues.");
    notes_.SuppressFailureMessage();
    writer = trace::TraceWriter::Stopped(writer.status());
  }
  auto* made = new recorder::Recorder(*std::move(writer), frames_);
  trace_path_ = made->trace().path();
  cards_.watch().SetNext(&made->blocks());
  stated_.PassOn([this, made](const StatedFacts::Facts& facts) {
    for (const auto& [key, value] : facts) made->program().Annotate(key, value);
    recorder_.store(made, std::memory_order_release);
  });
}

void Process::RecordGiven(const Room::Given& given) {
  if (recorder() == nullptr) return;
  const bool is_neighbour = given.process != 0;
  const trace::Moved moved{
      .device = given.device,
      .kind = is_neighbour ? trace::MoveKind::kGaveToNeighbour : trace::MoveKind::kGaveWay,
      .bytes = given.bytes,
      .duration_ns = static_cast<uint64_t>(given.duration.count())};
  recorder()->program().Moved(moved, is_neighbour ? NameOfProcess(given.process) : "",
                              is_neighbour ? ContextId{} : CaptureNativeContext(given.caller));
}

void Process::RecordSpilled(const SpillPolicy::Move& move) {
  const trace::Moved moved{
      .device = move.device,
      .kind = move.is_back ? trace::MoveKind::kCameBack : trace::MoveKind::kSpilled,
      .bytes = move.bytes,
      .host_bytes = move.copied,
      .duration_ns = static_cast<uint64_t>(move.duration.count())};
  notes_.Moved(moved, move.what);
}

void Process::Close() {
  {
    const MutexLock lock(mutex_);
    if (closed_ || recorder() == nullptr) return;
    closed_ = true;
  }
  if (auto* activities = this->activities()) activities->End();
  notes_.AtEnd();
  recorder()->Close();
}

const char* Process::trace_path() const {
  return recorder() != nullptr && recorder()->trace().status().ok() ? trace_path_.c_str() : "";
}

}  // namespace memtrace
