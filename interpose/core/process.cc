// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/process.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include "base/environment.h"
#include "base/mutex.h"
#include "interpose/core/assumed_workspaces.h"
#include "interpose/core/explanation.h"
#include "interpose/core/program_scopes.h"
#include "interpose/core/recorded_text/recorded_paths.h"
#include "interpose/core/recorded_text/secrets.h"
#include "interpose/core/recorded_text/trace_name.h"
#include "profiler/trace/events/printable_text.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace {
namespace {

// A setting of the simulated card, for test suites that fork a child for each test.
bool CardsAreCopiedOnFork() { return env::Is(env::kCardFork, "copy"); }

absl::StatusOr<std::unique_ptr<trace::TraceWriter>> OpenWriter(
    const std::map<std::string, std::string>& info) {
  const absl::StatusOr<uint64_t> keep = KeptBytes();
  if (!keep.ok()) return keep.status();
  return trace::TraceWriter::Open(
      ChooseTraceName(info), info,
      {.if_exists = trace::IfExists::kUseSibling, .keep_bytes = *keep, .with_summary = true});
}

void Say(const std::string& sentence) {
  std::fprintf(stderr, "memtrace: %s\n", trace::PrintableText(sentence).c_str());
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
  // For programs without Python, whose package ends the trace earlier. Does nothing the second
  // time.
  std::atexit([] { Get().Close(); });
}

// The short locks are held across the fork, so that the child finds whole tables. The long one is
// not: a driver may fork while it starts.
void Process::LockForFork() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  outside_.LockForFork();
  names_.LockForFork();
  info_mutex_.Lock();
  before_out_of_memory_.LockForFork();
  collector_.LockForFork();
}

void Process::UnlockAfterFork() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  collector_.UnlockAfterFork();
  before_out_of_memory_.UnlockAfterFork();
  info_mutex_.Unlock();
  names_.UnlockAfterFork();
  outside_.UnlockAfterFork();
}

// The only thread of the child calls this, before anything else runs there. Another thread of the
// parent may have held the long lock: it is made anew.
void Process::BeginAnewInForkedChild() {
  if (auto* recorder = recorder_.load()) recorder->trace().AbandonInForkedChild();
  activities_ = nullptr;
  // Children that go on with copies of the cards go on with copies of the allocators, unrecorded.
  if (!CardsAreCopiedOnFork()) {
    recorder_ = nullptr;
    forked_ = started_.load() || outside_started_.load();
    only_ = nullptr;
    first_in_use_ = nullptr;
  }
  new (&mutex_) Mutex;
  UnlockAfterFork();
}

void Process::SetInfo(std::string key, std::string value) {
  const MutexLock lock(info_mutex_);
  info_[std::move(key)] = std::move(value);
}

absl::Status Process::Start(int device_count, memtrace_mode mode) {
  if (is_forked()) return absl::UnavailableError(kForked);
  {
    const MutexLock lock(mutex_);
    if (started_ || (mode == MEMTRACE_MODE_OUTSIDE && outside_started_)) return absl::OkStatus();
    if (is_recorded_) OpenTrace();
    // Now, not with the trace: that may be older, of what was taken before the framework came.
    if (recorder() != nullptr && operations_.is_set())
      recorder()->scopes().SetOperations(&operations_);
    if (!is_recorded_ && mode != MEMTRACE_MODE_ALLOCATE) device_count = 0;
    auto cards = MakeCards(device_count, mode);
    if (!cards.ok()) return cards.status();
    const bool is_outside = mode == MEMTRACE_MODE_OUTSIDE;
    (is_outside ? outside_cards_ : cards_) = *std::move(cards);
    if (cards_.size() == 1) only_.store(cards_[0].allocator.get(), std::memory_order_release);
    (is_outside ? outside_started_ : started_).store(true, std::memory_order_release);
    HearOfOutside();
  }
  // torch's own allocator unmaps expandable segments of large blocks in pages of 20 MiB.
  if (mode == MEMTRACE_MODE_OBSERVE && recorder() != nullptr)
    recorder()->program().Annotate(trace::fact::kAllocatorLargePages, "1");
  if (recorder() != nullptr) LabelAssumedWorkspaces();
  SayWhatWasKept();
  BeginActivities(mode);
  // Alone, the first block is there already but not told yet: it must not count as the context.
  if (mode != MEMTRACE_MODE_OUTSIDE) SampleCards();
  return absl::OkStatus();
}

// No lock is held: CUPTI asks for buffers when it likes.
void Process::BeginActivities(memtrace_mode mode) {
  if (recorder() == nullptr || activities() != nullptr) return;
  if (mode == MEMTRACE_MODE_OUTSIDE) return CardActivities::SayIfWantedInVain(*recorder());
  CardActivities* made = CardActivities::MakeIfWanted(*recorder());
  activities_.store(made, std::memory_order_release);
  if (made != nullptr) made->Begin();
}

// Beside an allocator what lies outside has events of its own; before there is one, it is what the
// trace is about. Leaked like the process: a thread may be about to tell it something.
void Process::HearOfOutside() {
  if (recorder() == nullptr) return;
  std::vector<ObservedMemory*> alone;
  if (!started_) {
    for (const Card& card : outside_cards_) alone.push_back(card.observed.get());
  }
  outside_.Tell(new OutsideRecorder(recorder()->program(), std::move(alone)));
}

void Process::OpenTrace() {
  if (recorder() != nullptr) return;
  std::map<std::string, std::string> info = ProcessFacts();
  {
    const MutexLock lock(info_mutex_);
    info.insert(info_.begin(), info_.end());
  }
  if (!env::Is(env::kKeepSecrets, "1")) info["command"] = WithoutSecrets(info["command"]);
  for (auto& [key, value] : info) value = AsRecorded(std::move(value));
  auto writer = OpenWriter(info);
  if (!writer.ok()) {
    Say("no trace is written (" + std::string(writer.status().message()) +
        "); the program goes on");
    has_said_why_ = true;
    writer = trace::TraceWriter::Stopped(writer.status());
  }
  auto* made = new recorder::Recorder(*std::move(writer), frames_);
  trace_path_ = made->trace().path();
  watch_.PassTo(&made->blocks());
  recorder_.store(made, std::memory_order_release);
}

absl::StatusOr<std::vector<Process::Card>> Process::MakeCards(int device_count,
                                                              memtrace_mode mode) {
  if (mode == MEMTRACE_MODE_ALLOCATE) ReadPlan();
  std::vector<Card> cards(static_cast<size_t>(device_count));
  for (int device = 0; device < device_count; ++device) {
    Card& card = cards[static_cast<size_t>(device)];
    auto opened = OpenCard(DeviceIndex{device});
    if (!opened.ok()) return opened.status();
    card.driver = *std::move(opened);
    card.reader = std::make_unique<CardReader>(device);
    if (mode == MEMTRACE_MODE_ALLOCATE) {
      card.allocator = std::make_unique<CachingAllocator>(
          CachingAllocator::Options{
              .device = DeviceIndex{device}, .plan = plan_, .captures = card.driver.captures},
          *card.driver.vmm, *card.driver.events, watch_);
    } else {
      card.observed = std::make_unique<ObservedMemory>(DeviceIndex{device}, recorder()->blocks(),
                                                       mode == MEMTRACE_MODE_OUTSIDE
                                                           ? ObservedMemory::Caches::kNothing
                                                           : ObservedMemory::Caches::kSegments);
    }
  }
  return cards;
}

CachingAllocator* Process::LookAndGet(int device) {
  LookAtStart(device);
  CachingAllocator* found = allocator(device);
  if (device == 0 && found != nullptr && cards_[0].reader->has_looked()) {
    first_in_use_.store(found, std::memory_order_release);
  }
  return found;
}

// A plan that cannot be used is no reason not to run.
void Process::ReadPlan() {
  const std::string path(env::Text(env::kPlan));
  if (path.empty()) return;
  absl::StatusOr<Plan> plan = Plan::Read(path);
  if (plan.ok()) {
    plan_ = std::make_shared<const Plan>(*std::move(plan));
    return;
  }
  Say("no plan is used (" + std::string(plan.status().message()) +
      "); memtrace plan makes one, the program goes on without");
}

void Process::SayHowThePlanWent() {
  if (plan_ == nullptr || device_count() == 0) return;
  PlanUse sum;
  for (const Card& card : cards_) {
    const PlanUse use = card.allocator->accounts().plan_use();
    sum.placed += use.placed;
    sum.elsewhere += use.elsewhere;
  }
  recorder()->program().Annotate(trace::fact::kPlanFile,
                                 AsRecorded(std::string(env::Text(env::kPlan))));
  recorder()->program().Annotate(trace::fact::kPlanPlaced, std::to_string(sum.placed));
  recorder()->program().Annotate(trace::fact::kPlanElsewhere, std::to_string(sum.elsewhere));
}

ObservedMemory* Process::observed(int device) const {
  return HasCard(device) ? cards_[static_cast<size_t>(device)].observed.get() : nullptr;
}

ObservedMemory* Process::alone(int device) const {
  if (is_started() || !is_outside_started() || is_forked() || device < 0) return nullptr;
  const auto index = static_cast<size_t>(device);
  return index < outside_cards_.size() ? outside_cards_[index].observed.get() : nullptr;
}

// What is alone is counted as blocks of the card already.
Bytes Process::OutsideOn(const Card& card) const {
  return is_started() ? outside_.on_card(card.reader->device()) : 0;
}

void Process::Card::LookNow() const {
  if (!HasContext(DeviceIndex{reader->device()})) return;
  const auto memory = driver.vmm->MemoryInfo();
  if (memory.ok()) reader->Look(*memory, allocator_ledger().reserved);
}

std::optional<trace::CardLedger> Process::Card::Ledger(Bytes outside) const {
  if (reader->simulated()) return reader->Read(allocator_ledger(), outside, DeviceMemory{});
  if (!HasContext(DeviceIndex{reader->device()})) return std::nullopt;
  LookAtStart();
  const auto memory = driver.vmm->MemoryInfo();
  if (!memory.ok()) return std::nullopt;
  return reader->Read(allocator_ledger(), outside, *memory);
}

void Process::SampleCards() {
  auto* recorder = this->recorder();
  if (recorder == nullptr || is_forked() || cards().empty()) return;
  for (const Card& card : cards()) SampleCard(*recorder, card);
  SayFailureOnce();
}

void Process::SampleCard(recorder::Recorder& recorder, const Card& card) const {
  const auto ledger = card.Ledger(OutsideOn(card));
  if (!ledger) return;
  SayOtherProcesses(recorder, *ledger, *card.reader);
  recorder.program().SampleCard(*ledger);
}

void Process::SayOtherProcesses(recorder::Recorder& recorder, const trace::CardLedger& ledger,
                                const CardReader& reader) {
  if (ledger.other_processes == 0) return;
  recorder.program().Annotate(trace::fact::kCardProcesses.Of(ledger.device),
                              LaunchProcessesText(reader.OtherProcesses()));
}

void Process::LookNow(const Card& card) {
  card.LookAtStart();
  if (card.reader->has_looked() && recorder() != nullptr) SampleCard(*recorder(), card);
}

void Process::SayFailureOnce() {
  if (has_said_why_) return;
  if (const absl::Status failure = recorder()->trace().TakeFailure(); !failure.ok()) {
    Say("recording stopped (" + std::string(failure.message()) + "); the program goes on");
  }
}

bool Process::Collect() {
  static thread_local bool is_collecting = false;
  if (is_collecting) return false;
  is_collecting = true;
  const bool has_run = collector_.Call();
  is_collecting = false;
  return has_run;
}

bool Process::FillInCard(OutOfMemoryEvent& event) const {
  const auto index = static_cast<size_t>(event.device);
  if (is_forked() || index >= cards().size()) return false;
  const Card& card = cards()[index];
  event.ledger = card.allocator_ledger();
  if (const auto ledger = card.Ledger(OutsideOn(card))) {
    event.device_free = ledger->free;
    event.device_total = ledger->total;
  }
  return true;
}

std::vector<trace::CardLedger> Process::LedgersAt(const OutOfMemoryEvent& event) const {
  std::vector<trace::CardLedger> ledgers;
  for (const Card& card : cards()) {
    if (card.reader->device() == static_cast<int>(event.device)) {
      // The failing card's figures are those of the moment; other threads may have freed since.
      const DeviceMemory then{.free = event.device_free, .total = event.device_total};
      ledgers.push_back(card.reader->Read(event.ledger, OutsideOn(card), then));
    } else if (const auto ledger = card.Ledger(OutsideOn(card))) {
      ledgers.push_back(*ledger);
    }
  }
  return ledgers;
}

std::string Process::NoteOutOfMemory(const OutOfMemoryEvent& event) {
  before_out_of_memory_.Call();
  if (auto* activities = this->activities()) activities->Flush();
  std::vector<trace::CardLedger> ledgers = LedgersAt(event);
  std::vector<recorder::NamedBytes> owners;
  if (auto* recorder = this->recorder()) {
    for (const auto& [key, value] : SimulationFacts()) recorder->program().Annotate(key, value);
    SayHowThePlanWent();
    for (const trace::CardLedger& ledger : ledgers)
      SayOtherProcesses(*recorder, ledger, *cards()[static_cast<size_t>(ledger.device)].reader);
    recorder->blocks().NoteOutOfMemory(event, ledgers);
    SayFailureOnce();
    owners = recorder->blocks().TopOwners(event.device, 3);
  }
  const trace::OutOfMemory written{.device = static_cast<int32_t>(event.device),
                                   .requested = event.requested,
                                   .allocated = event.allocated,
                                   .obtainable = event.obtainable,
                                   .limit = event.limit,
                                   .cards = std::move(ledgers)};
  return ExplainOutOfMemory(written, is_recorded_ ? &owners : nullptr, trace_path());
}

void Process::Close() {
  {
    const MutexLock lock(mutex_);
    if (closed_ || recorder() == nullptr) return;
    closed_ = true;
  }
  if (auto* activities = this->activities()) activities->End();
  SampleCards();
  for (const auto& [key, value] : SimulationFacts()) recorder()->program().Annotate(key, value);
  SayHowThePlanWent();
  SayFailureOnce();
  recorder()->Close();
}

const char* Process::trace_path() const {
  return recorder() != nullptr && recorder()->trace().status().ok() ? trace_path_.c_str() : "";
}

}  // namespace memtrace
