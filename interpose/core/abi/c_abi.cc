// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// memtrace.h over the composition root: arguments checked, structs and status codes translated,
// exceptions kept inside; nothing else.
#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "interpose/core/abi/abi_structs.h"
#include "interpose/core/abi/allocate_with_room.h"
#include "interpose/core/abi/observed_explanation.h"
#include "interpose/core/abi/outside_growth.h"
#include "interpose/core/abi/source_call.h"
#include "interpose/core/abi/struct_sizes.h"
#include "interpose/core/abi_border.h"
#include "interpose/core/cards/movable_scopes.h"
#include "interpose/core/memtrace.h"
#include "interpose/core/process.h"
#include "interpose/core/program_scopes.h"
#include "interpose/core/room/launching_threads.h"
#include "interpose/core/stacks/own_files.h"

namespace memtrace {
namespace {

// The card's lock is held in such a call, so a function that would wait for the lock fails instead.
constexpr std::string_view kFromSource = "a pool's own allocator must not call this function";

// Returns MEMTRACE_OUT_OF_MEMORY even if explaining it fails.
int Explain(const OutOfMemoryEvent& event, memtrace_out_of_memory* out_of_memory) {
  memtrace_out_of_memory told = ToAbi(event);
  Contain([&] { CopyExplanation(told, Process::Get().notes().OutOfMemory(event)); });
  if (HasSize(out_of_memory)) WriteCommonPart(out_of_memory, told);
  return Fail(MEMTRACE_OUT_OF_MEMORY, "the card is out of memory");
}

int WritePythonFrames(std::span<char> text) {
  constexpr size_t kMostFrames = 32;
  std::string lines;
  PythonFrames& python = Process::Get().frames().python();
  const uint32_t count = python.Walk([&](std::span<const recorder::RawFrame> frames) {
    uint32_t written = 0;
    for (size_t i = 0; i < frames.size() && written < kMostFrames; ++i) {
      const trace::Frame frame = python.Symbolize(frames[i]);
      if (IsOwnFile(frame.file)) continue;
      lines += frame.file + '\t' + std::to_string(frame.line) + '\t' + frame.function + '\n';
      ++written;
    }
    return written;
  });
  const size_t length = std::min(lines.size(), text.size() - 1);
  std::memcpy(text.data(), lines.data(), length);
  text[length] = '\0';
  return static_cast<int>(count);
}

void ObserveOutOfMemory(const memtrace_observed_out_of_memory& event) {
  auto* observed = Process::Get().cards().observed(event.device);
  if (observed == nullptr) return;
  OutOfMemoryEvent noted = FromAbi(event);
  noted.ledger = observed->LedgerOf(event);
  noted.obtainable = std::min(event.requested, event.device_free);
  ObservedExplanation::Get().Set(Process::Get().notes().OutOfMemory(noted));
}

int RefuseAsleep(MovableOwner owner) {
  const std::string name(Process::Get().names().Text(static_cast<uint32_t>(owner)));
  return Fail(MEMTRACE_INVALID_ARGUMENT,
              "'" + name + "' is asleep, so nothing can be allocated under its tag.");
}

int Allocate(const memtrace_request& asked, void** address, memtrace_out_of_memory* out_of_memory) {
  if (asked.bytes == 0 || address == nullptr)
    return Fail(MEMTRACE_INVALID_ARGUMENT, asked.bytes == 0 ? "bytes is 0" : "address is NULL");
  return WithCard(asked.device, [&](CachingAllocator& allocator) -> int {
    const MovableOwner owner = MovableScopes::Current();
    AllocationResult result = AllocateWithRoom(
        allocator, {.bytes = asked.bytes,
                    .stream = StreamId{asked.stream},
                    .context = ContextId{asked.context},
                    .at_least = asked.at_least,
                    .is_trial = asked.is_trial != 0,
                    .reject_above = asked.reject_above == 0 ? ~uint64_t{0} : asked.reject_above,
                    .at = DeviceAddress{asked.at},
                    .is_not_free = asked.is_not_free != 0 || owner != MovableOwner{},
                    .only_free = asked.only_free != 0,
                    .movable = owner});
    if (const auto* placed = std::get_if<DeviceAddress>(&result)) {
      *address = Pointer(*placed);
      Process::Get().cards().LookOnFirstUse(asked.device);  // it may have made the context
      return MEMTRACE_OK;
    }
    const auto* event = std::get_if<OutOfMemoryEvent>(&result);
    if (event != nullptr && event->is_rejected && HasSize(out_of_memory))
      WriteCommonPart(out_of_memory, ToAbi(*event));
    if (event != nullptr && (asked.is_trial != 0 || event->is_rejected))
      return Fail(MEMTRACE_OUT_OF_MEMORY, "the card is out of memory");
    if (event != nullptr) return Explain(*event, out_of_memory);
    const auto& status = std::get<absl::Status>(result);
    if (absl::IsFailedPrecondition(status)) return RefuseAsleep(owner);
    if (asked.only_free != 0 && absl::IsResourceExhausted(status))
      return Fail(MEMTRACE_OUT_OF_MEMORY, "no free block of the stream is large enough");
    return Translate(status);
  });
}

}  // namespace
}  // namespace memtrace

using memtrace::Contain;
using memtrace::Process;

extern "C" {

uint32_t memtrace_abi_version() { return MEMTRACE_ABI_VERSION; }

const char* memtrace_last_error() { return memtrace::LastError(); }

int memtrace_last_driver_result() { return memtrace::LastDriverResult(); }

void memtrace_set_info(const char* key, const char* value) {
  if (key == nullptr || value == nullptr) return;
  Contain([&] { Process::Get().stated().SetInfo(key, value); });
}

int memtrace_start(int device_count, int mode) {
  if (device_count < 0)
    return memtrace::Fail(MEMTRACE_INVALID_ARGUMENT, "device_count is negative");
  if (mode < MEMTRACE_MODE_ALLOCATE || mode > MEMTRACE_MODE_OUTSIDE)
    return memtrace::Fail(MEMTRACE_INVALID_ARGUMENT, "there is no mode " + std::to_string(mode));
  return Contain(static_cast<int>(MEMTRACE_INTERNAL), [&] {
    return memtrace::Translate(
        Process::Get().Start(device_count, static_cast<memtrace_mode>(mode)));
  });
}

void memtrace_close() {
  Contain([] { Process::Get().Close(); });
}

int memtrace_is_recorded() { return Process::Get().is_recorded() ? 1 : 0; }

const char* memtrace_trace_path() {
  return Contain("", [] { return Process::Get().trace_path(); });
}

int memtrace_python_frames(char* text, uint64_t size) {
  if (text == nullptr || size == 0) return 0;
  return Contain(0, [&] { return memtrace::WritePythonFrames({text, size}); });
}

uint64_t memtrace_capture_context() {
  const void* caller = __builtin_return_address(0);
  return Contain(uint64_t{0},
                 [&] { return static_cast<uint64_t>(memtrace::CaptureContext(caller)); });
}

int memtrace_allocate(int device, uint64_t bytes, uint64_t stream, uint64_t context, void** address,
                      memtrace_out_of_memory* out_of_memory) {
  if (memtrace::SourceCall::IsRunning())
    return memtrace::Fail(MEMTRACE_UNSUPPORTED, memtrace::kFromSource);
  const memtrace_request request{.size = sizeof(request),
                                 .device = device,
                                 .bytes = bytes,
                                 .at_least = 0,
                                 .stream = stream,
                                 .context = context,
                                 .is_trial = 0,
                                 .reject_above = 0,
                                 .at = 0,
                                 .is_not_free = 0,
                                 .only_free = 0};
  return memtrace::Allocate(request, address, out_of_memory);
}

int memtrace_allocate_request(const memtrace_request* request, void** address,
                              memtrace_out_of_memory* out_of_memory) {
  if (!memtrace::HasSize(request)) return memtrace::Missing("request");
  // Usually the struct is not copied: its fields were just written and are still on their way to
  // memory.
  if (request->size == sizeof(*request))
    return memtrace::Allocate(*request, address, out_of_memory);
  return memtrace::Allocate(memtrace::ReadCommonPart(request), address, out_of_memory);
}

void* memtrace_take_free(int device, uint64_t bytes, uint64_t at_least, uint64_t stream,
                         uint64_t context) {
  return memtrace::Contain(static_cast<void*>(nullptr), [&]() -> void* {
    memtrace::CachingAllocator* allocator =
        Process::Get().cards().allocator_for_free_memory(device, [] {
          memtrace::LaunchingThreads::Note();
          return memtrace::MovableScopes::Current() != memtrace::MovableOwner{};
        });
    if (allocator == nullptr || bytes == 0) return nullptr;
    return memtrace::Pointer(allocator->TryAllocate(bytes, memtrace::StreamId{stream},
                                                    memtrace::ContextId{context}, at_least));
  });
}

int memtrace_deallocate(void* address) {
  // In a forked child, destructors of inherited tensors run, but the memory belongs to the parent.
  if (Process::Get().cards().is_forked()) return MEMTRACE_OK;
  return memtrace::WithOwner(address, [&](memtrace::CachingAllocator& allocator) {
    return memtrace::Translate(allocator.Free(memtrace::Address(address)));
  });
}

int memtrace_record_stream(void* address, uint64_t stream) {
  return memtrace::WithOwner(address, [&](memtrace::CachingAllocator& allocator) {
    return memtrace::Translate(
        allocator.RecordStream(memtrace::Address(address), memtrace::StreamId{stream}));
  });
}

int memtrace_empty_cache() {
  const memtrace_pool all{0, 0};
  return memtrace_empty_pool(&all);
}

int memtrace_set_limit(int device, uint64_t bytes) {
  return memtrace::WithCard(device, [&](memtrace::CachingAllocator& allocator) {
    allocator.SetLimit(bytes);
    return static_cast<int>(MEMTRACE_OK);
  });
}

int memtrace_base_allocation(const void* address, void** base, uint64_t* bytes) {
  if (memtrace::SourceCall::IsRunning())
    return memtrace::Fail(MEMTRACE_UNSUPPORTED, memtrace::kFromSource);
  return memtrace::WithOwner(address, [&](memtrace::CachingAllocator& allocator) {
    const auto range = allocator.sharing().BaseAllocation(memtrace::Address(address));
    if (!range.has_value())
      return memtrace::Fail(MEMTRACE_INVALID_ARGUMENT, "the address is not in a block in use");
    if (base != nullptr) *base = memtrace::Pointer(range->begin);
    if (bytes != nullptr) *bytes = range->size();
    return static_cast<int>(MEMTRACE_OK);
  });
}

int memtrace_watch(void (*watch)(void*, const memtrace_change*), void* user) {
  if (watch == nullptr) return memtrace::Missing("watch");
  return Contain(static_cast<int>(MEMTRACE_INTERNAL), [&] {
    if (Process::Get().cards().watch().Watch(watch, user)) return static_cast<int>(MEMTRACE_OK);
    return memtrace::Fail(MEMTRACE_INVALID_ARGUMENT,
                          "another function already watches the changes");
  });
}

void memtrace_observe(const memtrace_observed* event) {
  if (!memtrace::HasSize(event)) return;
  Contain([&] {
    const memtrace_observed known = memtrace::ReadCommonPart(event);
    if (auto* observed = Process::Get().cards().observed(known.device)) {
      observed->Note(known);
      // The hooks of libmemtrace_preload.so have also recorded this segment, as outside memory.
      if (known.kind == MEMTRACE_OBSERVED_MAP) {
        Process::Get().outside().Claim(memtrace::DeviceAddress{known.address}, known.bytes);
        memtrace::SampleIfOutsideGrew(known.device);
      }
      Process::Get().cards().LookOnFirstUse(known.device);
    }
  });
}

void memtrace_observe_out_of_memory(const memtrace_observed_out_of_memory* event) {
  if (!memtrace::HasSize(event)) return;
  Contain([&] { memtrace::ObserveOutOfMemory(memtrace::ReadCommonPart(event)); });
}

uint64_t memtrace_take_explanation(char* text, uint64_t size) {
  if (text == nullptr || size == 0) return 0;
  return Contain(uint64_t{0}, [&]() -> uint64_t {
    const std::string explanation = memtrace::ObservedExplanation::Get().Take();
    const uint64_t copied = explanation.copy(text, size - 1);
    text[copied] = '\0';
    return copied;
  });
}

uint32_t memtrace_intern(const char* name) {
  if (name == nullptr) return 0;
  return Contain(uint32_t{0}, [&] { return Process::Get().names().Intern(name); });
}

void memtrace_push_tag(uint32_t name) {
  Contain([&] { memtrace::PushTag(name); });
}
void memtrace_pop_tag() {
  Contain([] { memtrace::PopTag(); });
}
void memtrace_push_module(uint32_t path) {
  Contain([&] { memtrace::PushModule(path); });
}
void memtrace_pop_module() {
  Contain([] { memtrace::PopModule(); });
}
uint32_t memtrace_module_depth() { return memtrace::ModuleDepth(); }
void memtrace_push_role(int role) {
  Contain([&] { memtrace::PushRole(static_cast<memtrace::trace::Role>(role)); });
}
void memtrace_pop_role() {
  Contain([] { memtrace::PopRole(); });
}
uint32_t memtrace_current_scope() { return Contain(uint32_t{0}, memtrace::CurrentScope); }
uint32_t memtrace_scope_of_forward(uint64_t sequence) {
  return Contain(uint32_t{0}, [&] {
    auto* recorder = Process::Get().recorder();
    return recorder != nullptr ? recorder->scopes().OfForward(sequence) : 0;
  });
}
void memtrace_enter_scope(uint32_t scope) {
  Contain([&] { memtrace::EnterScope(scope); });
}
void memtrace_leave_scope() {
  Contain([] { memtrace::LeaveScope(); });
}
void memtrace_set_operations(const struct memtrace_operations* operations) {
  if (!memtrace::HasSize(operations)) return;
  Contain([&] { Process::Get().SetOperations(memtrace::ReadCommonPart(operations)); });
}
void memtrace_begin_step() {
  Contain([] { memtrace::BeginStep(); });
}
void memtrace_set_phase(int phase) {
  Contain([&] { memtrace::SetPhase(static_cast<memtrace::trace::Phase>(phase)); });
}

void memtrace_pause_activities() {
  Contain([] {
    if (auto* activities = Process::Get().activities()) activities->Pause();
  });
}
void memtrace_resume_activities() {
  Contain([] {
    if (auto* activities = Process::Get().activities()) activities->Resume();
  });
}

void memtrace_annotate(const char* key, const char* value) {
  if (key == nullptr || value == nullptr) return;
  Contain([&] { memtrace::Annotate(key, value); });
}

void memtrace_relabel_all(int role, const uint64_t* labels, size_t count) {
  Contain([&] {
    auto* recorder = Process::Get().recorder();
    if (recorder == nullptr || labels == nullptr) return;
    const memtrace::Names& names = Process::Get().names();
    for (const uint64_t* label = labels; count > 0; --count, label += MEMTRACE_LABEL_WORDS) {
      recorder->blocks().RelabelFor(
          memtrace::DeviceIndex{static_cast<int>(label[0])}, memtrace::DeviceAddress{label[1]},
          label[2], static_cast<memtrace::trace::Role>(role), memtrace::DeviceAddress{label[3]},
          names.Text(static_cast<uint32_t>(label[4])));
    }
  });
}

void memtrace_relabel(int device, uint64_t address, uint64_t bytes, int role, uint32_t owner,
                      uint32_t path) {
  Contain([&] {
    auto* recorder = Process::Get().recorder();
    if (recorder == nullptr) return;
    const memtrace::Names& names = Process::Get().names();
    recorder->blocks().Relabel(memtrace::DeviceIndex{device}, memtrace::DeviceAddress{address},
                               bytes, static_cast<memtrace::trace::Role>(role), names.Text(owner),
                               names.Text(path));
  });
}

void memtrace_set_before_out_of_memory(void (*callback)(void* user), void* user) {
  Contain([&] { Process::Get().callbacks().before_out_of_memory().Set(callback, user); });
}

void memtrace_set_collector(void (*callback)(void* user), void* user) {
  Contain([&] { Process::Get().callbacks().collector().Set(callback, user); });
}

int memtrace_collect() {
  bool has_run = false;
  Contain([&] { has_run = Process::Get().callbacks().Collect(); });
  return has_run ? 1 : 0;
}

}  // extern "C"
