// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/program_scopes.h"

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interpose/core/call_stacks.h"
#include "interpose/core/process.h"

namespace memtrace {
namespace {

// The scopes that one thread entered before there was a recorder.
struct KeptScopes {
  std::vector<uint32_t> tags;
  std::vector<uint32_t> modules;
  std::vector<trace::Role> roles;

  bool empty() const { return tags.empty() && modules.empty() && roles.empty(); }
};
thread_local KeptScopes kept;
thread_local uint32_t module_depth = 0;  // counts kept and recorded modules alike

std::atomic<uint8_t> kept_phase = 0;
std::atomic<uint32_t> kept_steps = 0;

std::string_view Text(uint32_t name) { return Process::Get().names().Text(name); }

// Returns the trace's number of a name. Caches the names that this thread used last, because it
// enters the same modules in every step.
trace::StringId InTrace(recorder::Recorder& recorder, uint32_t name) {
  struct Known {
    const recorder::Recorder* recorder = nullptr;  // a forked child has another
    uint32_t name = 0;
    trace::StringId id = 0;
  };
  static thread_local std::array<Known, 256> known;
  Known& entry = known[name % known.size()];
  if (entry.recorder != &recorder || entry.name != name)
    entry = {.recorder = &recorder, .name = name, .id = recorder.trace().Intern(Text(name))};
  return entry.id;
}

// Returns the recorder after telling it what this thread has kept; null if there is none yet.
recorder::Recorder* Recorder() {
  recorder::Recorder* recorder = Process::Get().recorder();
  if (recorder != nullptr && !kept.empty()) PassOnKeptScopes();
  return recorder;
}

// Returns the scopes of that recorder; null if there is no recorder yet.
recorder::TagScopes* Scopes() {
  recorder::Recorder* recorder = Recorder();
  return recorder == nullptr ? nullptr : &recorder->scopes();
}

template <typename Value>
void Keep(std::vector<Value>& values, Value value) {
  if (Process::Get().is_recorded()) values.push_back(value);
}

template <typename Value>
void Forget(std::vector<Value>& values) {
  if (!values.empty()) values.pop_back();
}

// Ends the operation, so that later launches of this thread do not count for its earlier
// allocation.
void EndOperation() {
  if (auto* activities = Process::Get().activities()) activities->EndOperation();
}

// Marks the number of a scope that was taken before there was a recorder: its low bits name the two
// parts.
constexpr uint32_t kKeptScope = uint32_t{1} << 31;
constexpr char kBetweenParts = '\n';

std::string KeptScopeText() {
  std::string text;
  for (const uint32_t name : kept.tags) {
    if (!text.empty()) text += '/';
    text += Text(name);
  }
  text += kBetweenParts;
  if (!kept.modules.empty()) text += Text(kept.modules.back());
  return text;
}

std::pair<std::string_view, std::string_view> PartsOf(uint32_t scope) {
  if ((scope & kKeptScope) == 0) return {};
  const std::string_view text = Text(scope & ~kKeptScope);
  const size_t between = text.find(kBetweenParts);
  if (between == std::string_view::npos) return {};
  return {text.substr(0, between), text.substr(between + 1)};
}

}  // namespace

void PassOnKeptScopes() {
  recorder::Recorder* recorder = Process::Get().recorder();
  if (recorder == nullptr) return;
  const KeptScopes said = std::exchange(kept, {});
  for (const uint32_t name : said.tags) recorder->scopes().PushTag(Text(name));
  for (const uint32_t path : said.modules) recorder->scopes().PushModule(Text(path));
  for (const trace::Role role : said.roles) recorder->scopes().PushRole(role);
  if (const auto phase = kept_phase.exchange(0); phase != 0)
    recorder->program().SetPhase(static_cast<trace::Phase>(phase));
  for (uint32_t steps = kept_steps.exchange(0); steps > 0; --steps) recorder->program().BeginStep();
}

void PushTag(uint32_t name) {
  if (auto* scopes = Scopes()) return scopes->PushTag(Text(name));
  Keep(kept.tags, name);
}

void PopTag() {
  if (auto* scopes = Scopes()) return scopes->PopTag();
  Forget(kept.tags);
}

void PushModule(uint32_t path) {
  ++module_depth;
  if (auto* recorder = Recorder()) return recorder->scopes().PushModule(InTrace(*recorder, path));
  Keep(kept.modules, path);
}

void PopModule() {
  if (module_depth == 0) return;
  --module_depth;
  if (auto* scopes = Scopes()) return scopes->PopModule();
  Forget(kept.modules);
}

uint32_t ModuleDepth() { return module_depth; }

void PushRole(trace::Role role) {
  if (auto* scopes = Scopes()) return scopes->PushRole(role);
  Keep(kept.roles, role);
}

void PopRole() {
  if (auto* scopes = Scopes()) return scopes->PopRole();
  Forget(kept.roles);
}

uint32_t CurrentScope() {
  if (auto* scopes = Scopes()) return scopes->CurrentScope();
  return kept.empty() ? 0 : kKeptScope | Process::Get().names().Intern(KeptScopeText());
}

void EnterScope(uint32_t scope) {
  const auto [owner, module] = PartsOf(scope);
  if (auto* scopes = Scopes()) {
    const bool was_kept = (scope & kKeptScope) != 0;
    return was_kept ? scopes->EnterScope(owner, module) : scopes->EnterScope(scope);
  }
  Keep(kept.tags, Process::Get().names().Intern(owner));
  Keep(kept.modules, Process::Get().names().Intern(module));
}

void LeaveScope() {
  if (auto* scopes = Scopes()) return scopes->LeaveScope();
  Forget(kept.tags);
  Forget(kept.modules);
}

void SetPhase(trace::Phase phase) {
  EndOperation();
  if (auto* recorder = Recorder()) return static_cast<void>(recorder->program().SetPhase(phase));
  kept_phase = static_cast<uint8_t>(phase);
}

void BeginStep() {
  for (const ServedCard& card : Process::Get().cards().all()) {
    if (card.allocator != nullptr) card.allocator->movement().EndStep();
  }
  Process::Get().spill_policy().EndStep();
  if (auto* recorder = Recorder()) {
    if (auto* activities = Process::Get().activities()) {
      activities->EndOperation();
      activities->Flush();
    }
    recorder->program().BeginStep();
    Process::Get().notes().SampleCards();
    return;
  }
  ++kept_steps;
}

void Annotate(const std::string& key, const std::string& value) {
  if (Process::Get().recorder() == nullptr && Process::Get().stated().Keep(key, value)) return;
  if (auto* recorder = Recorder()) recorder->program().Annotate(key, value);
}

ContextId CaptureContext(const void* caller) {
  recorder::Recorder* recorder = Recorder();
  if (recorder == nullptr) return {};
  if (auto* activities = Process::Get().activities()) activities->BeginOperation();
  return recorder->scopes().CurrentContext(CallStack(*recorder, caller));
}

ContextId CaptureNativeContext(const void* caller) {
  recorder::Recorder* recorder = Recorder();
  return recorder == nullptr
             ? ContextId{}
             : recorder->scopes().CurrentContext(NativeCallStack(*recorder, caller));
}

ContextId CaptureHostContext(const void* caller) {
  recorder::Recorder* recorder = Recorder();
  return recorder == nullptr ? ContextId{}
                             : recorder->scopes().CurrentContext(HostCallStack(*recorder, caller));
}

}  // namespace memtrace
