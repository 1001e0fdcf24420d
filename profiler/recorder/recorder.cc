// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/recorder.h"

namespace memtrace::recorder {
namespace {

using trace::CardLedger;
using trace::Phase;
using trace::Role;
using trace::StackId;
using trace::StringId;

int32_t Number(DeviceIndex device) { return static_cast<int32_t>(device); }
uint64_t Number(StreamId stream) { return static_cast<uint64_t>(stream); }

}  // namespace

Recorder::Recorder(std::unique_ptr<trace::TraceWriter> writer, FrameSymbolizer& symbolizer)
    : trace_(std::move(writer)), scopes_(trace_, contexts_), stacks_(trace_, symbolizer) {}

template <typename E>
void Recorder::Append(const E& event) {
  const uint64_t now = Now();
  Note(trace_.writer->Write(++sequence_, now, event));
  run_.Note(event);
}

uint64_t Recorder::Now() {
  const uint64_t now = clock_.Now();
  if (now >= look_at_ns_) LookAround(now);
  return now;
}

std::optional<LiveBlock> Recorder::Forget(const BlockEvent& block) {
  auto freed = live_.Remove(block.device, block.address);
  if (freed)
    checkpoint_.Removed(*trace_.writer, run_, {block.address, Number(block.device)}, *freed);
  return freed;
}

void Recorder::Note(const absl::Status& written) {
  if (!written.ok()) has_failed_.store(true, std::memory_order_relaxed);
}

void Recorder::Allocated(const BlockEvent& block) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    live_.Prefetch(block.device, block.address);
    const AllocationContext context = contexts_.Unpack(block.context);
    const trace::Allocate event{.device = Number(block.device),
                                .address = block.address,
                                .requested = block.requested,
                                .allocated = block.allocated,
                                .stream = Number(block.stream),
                                .pool = pools_.Of(block.pool),
                                .stack = context.stack,
                                .owner = context.owner,
                                .module = context.module};
    Append(event);
    const ProgramPosition& now = run_.position();
    const LiveBlock born{.requested = block.requested,
                         .allocated = block.allocated,
                         .birth = sequence_,
                         .stack = context.stack,
                         .owner = context.owner,
                         .phase = now.phase,
                         .stream = event.stream,
                         .pool = event.pool,
                         .module = context.module,
                         .phase_run = now.phase_run,
                         .step = static_cast<uint32_t>(now.step)};
    live_.Add(block.device, block.address, born);
    run_.Allocated(block.device, born);
    if (operations_ != nullptr) operations_->Note(sequence_);
    if (context.role != Role::kUnknown) {
      Label(block.device, block.address, block.requested,
            {.role = context.role, .owner = 0, .path = 0});
    }
  });
}

void Recorder::FreeRequested(const BlockEvent& block) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    Append(trace::FreeRequested{.device = Number(block.device), .address = block.address});
    if (const auto freed = Forget(block)) {
      run_.FreeRequested({block.address, block.device}, *freed, sequence_);
    }
  });
}

void Recorder::FreeCompleted(const BlockEvent& block) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    Append(trace::FreeCompleted{.device = Number(block.device), .address = block.address});
    run_.FreeCompleted({block.address, block.device});
  });
}

void Recorder::Freed(const BlockEvent& block) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    live_.Prefetch(block.device, block.address);
    const uint64_t now = Now();
    const uint64_t sequence = sequence_ + 1;
    sequence_ += 2;
    Note(trace_.writer->WriteFreed(sequence, now, Number(block.device), block.address));
    if (const auto freed = Forget(block)) {
      run_.Freed({block.address, block.device}, *freed, sequence);
    }
  });
}

void Recorder::Reserved(const RangeEvent& range) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    Append(trace::Reserve{.device = Number(range.device),
                          .address = range.address,
                          .size = range.size,
                          .stream = Number(range.stream)});
  });
}

void Recorder::Mapped(const RangeEvent& range) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    Append(trace::Map{.device = Number(range.device),
                      .address = range.address,
                      .size = range.size,
                      .stream = Number(range.stream)});
  });
}

void Recorder::Unmapped(const RangeEvent& range) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    Append(
        trace::Unmap{.device = Number(range.device), .address = range.address, .size = range.size});
  });
}

void Recorder::OutOfMemory(const OutOfMemoryEvent& /*event*/) {}

void Recorder::NoteOutOfMemory(const OutOfMemoryEvent& event, std::span<const CardLedger> cards) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    const AllocationContext context = contexts_.Unpack(event.context);
    Append(trace::OutOfMemory{.device = Number(event.device),
                              .stream = Number(event.stream),
                              .requested = event.requested,
                              .allocated = event.allocated,
                              .obtainable = event.obtainable,
                              .limit = event.limit,
                              .stack = context.stack,
                              .owner = context.owner,
                              .module = context.module,
                              .cards = {cards.begin(), cards.end()}});
    Summarise(clock_.Now(), /*is_last=*/false);  // often the last word
  });
}

void Recorder::OutsideAllocated(trace::OutsideAllocate event, uint64_t context) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    const AllocationContext from = contexts_.Unpack(context);
    event.stack = from.stack;
    event.owner = from.owner;
    event.module = from.module;
    Append(event);
  });
}

void Recorder::OutsideFreed(const trace::OutsideFree& event) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    Append(event);
  });
}

// The tag changes before its event is written. Only this thread can allocate under it meanwhile,
// and it is here.
void Recorder::PushTag(std::string_view name) {
  Guarded([&] {
    const TagScopes::Tag tag = scopes_.PushTag(name);
    const SpinMutexLock lock(trace_.mutex);
    Append(trace::TagChange{.thread = tag.thread, .owner = tag.owner});
  });
}

void Recorder::PopTag() {
  Guarded([&] {
    const TagScopes::Tag tag = scopes_.PopTag();
    const SpinMutexLock lock(trace_.mutex);
    Append(trace::TagChange{.thread = tag.thread, .owner = tag.owner});
  });
}

Phase Recorder::SetPhase(Phase phase) {
  Phase before = phase;
  Guarded([&] {
    {
      const SpinMutexLock lock(trace_.mutex);
      before = run_.position().phase;
      if (before != phase) {
        Append(trace::PhaseChange{.phase = phase, .micro_batch = micro_batch_.Enter(phase)});
      }
    }
    const bool goes_on = before == Phase::kBackward || before == Phase::kRecompute;
    if (phase == Phase::kBackward && !goes_on) scopes_.BeginBackward();
  });
  return before;
}

uint64_t Recorder::BeginStep() {
  uint64_t number = 0;
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    number = run_.position().step + 1;
    micro_batch_.BeginStep();
    Append(trace::Step{.number = number});
  });
  return number;
}

void Recorder::Relabel(DeviceIndex device, DeviceAddress address, Bytes size, Role role,
                       std::string_view owner, std::string_view path) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    Label(
        device, address, size,
        {.role = role, .owner = trace_.writer->String(owner), .path = trace_.writer->String(path)});
  });
}

void Recorder::RelabelFor(DeviceIndex device, DeviceAddress address, Bytes size, Role role,
                          DeviceAddress of, std::string_view path) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    const LiveBlock* block = live_.Find(device, address);
    const LiveBlock* served = live_.Find(device, of);
    const bool is_ownerless = block != nullptr && block->owner == 0;
    Label(device, address, size,
          {.role = role,
           .owner = is_ownerless && served != nullptr ? served->owner : 0,
           .path = trace_.writer->String(path)});
  });
}

void Recorder::Label(DeviceIndex device, DeviceAddress address, Bytes size,
                     const recorder::Label& label) {
  if (size == 0 || !live_.Relabel(device, address, size, label)) return;
  const LiveBlock* block = live_.Find(device, address);
  const bool is_whole = block != nullptr && size >= block->requested;
  const trace::Relabel event{.device = Number(device),
                             .address = address,
                             .size = is_whole ? 0 : size,
                             .role = label.role,
                             .owner = label.owner,
                             .path = label.path};
  Append(event);
  run_.Labelled(event, is_whole ? block : nullptr);
}

void Recorder::Annotate(std::string_view key, std::string_view value) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    const StringId key_id = trace_.writer->String(key);
    const StringId value_id = trace_.writer->String(value);
    const auto known = run_.facts().find(key_id);
    if (known != run_.facts().end() && known->second == value_id) return;
    Append(trace::Annotate{.key = key_id, .value = value_id});
  });
}

void Recorder::SampleCard(const CardLedger& card) {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    Append(trace::CardSample{.card = card});
  });
}

std::vector<Recorder::NamedBytes> Recorder::TopOwners(DeviceIndex device, size_t most) const {
  std::vector<NamedBytes> owners;
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    for (const LiveTable::Group& group : live_.LargestGroups(device, most)) {
      std::string name(trace::RoleName(group.role));
      if (group.owner != 0) name += " " + std::string(trace_.writer->Text(group.owner));
      owners.push_back({.name = std::move(name), .bytes = group.bytes});
    }
  });
  return owners;
}

uint64_t Recorder::lost_events() const {
  uint64_t lost = 0;
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    lost = trace_.writer->lost_events();
  });
  return lost + lost_for_memory_.load(std::memory_order_relaxed);
}

absl::Status Recorder::status() const {
  absl::Status status;
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    status = trace_.writer->status();
  });
  return status;
}

absl::Status Recorder::TakeFailure() {
  if (!has_failed_.load(std::memory_order_relaxed)) return absl::OkStatus();
  return has_failed_.exchange(false) ? status() : absl::OkStatus();
}

std::string Recorder::path() const {
  std::string path;
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    path = trace_.writer->path();
  });
  return path;
}

void Recorder::Close() {
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    Summarise(clock_.Now(), /*is_last=*/true);
    trace_.writer->Close();
  });
}

void Recorder::AbandonInForkedChild() {
  if (!is_abandoned_.exchange(true)) trace_.writer->AbandonInForkedChild();
}

}  // namespace memtrace::recorder
