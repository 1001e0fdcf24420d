// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/block_recorder.h"

#include <utility>

#include "profiler/recorder/accounts/plain_numbers.h"

namespace memtrace::recorder {

void BlockRecorder::Allocated(const BlockEvent& block) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    LiveTable& live = log_.live();
    live.Prefetch(block.device, block.address);
    const AllocationContext context = contexts_.Unpack(block.context);
    const trace::Allocate event{.device = Number(block.device),
                                .address = block.address.value(),
                                .requested = block.requested,
                                .allocated = block.allocated,
                                .stream = Number(block.stream),
                                .pool = pools_.Of(block.pool),
                                .stack = context.stack,
                                .owner = context.owner,
                                .module = context.module};
    log_.Append(event);
    RunAccount& run = log_.run();
    const ProgramPosition& now = run.position();
    const LiveBlock born{.requested = block.requested,
                         .allocated = block.allocated,
                         .birth = log_.sequence(),
                         .stack = context.stack,
                         .owner = context.owner,
                         .phase = now.phase,
                         .stream = event.stream,
                         .pool = event.pool,
                         .module = context.module,
                         .phase_run = now.phase_run,
                         .step = static_cast<uint32_t>(now.step)};
    live.Add(block.device, block.address, born);
    run.Allocated(block.device, born);
    if (operations_ != nullptr) operations_->Note(log_.sequence());
    if (context.role != trace::Role::kUnknown) {
      Label(block.device, block.address, block.requested,
            {.role = context.role, .owner = 0, .path = 0});
    }
  });
}

void BlockRecorder::FreeRequested(const BlockEvent& block) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    log_.Append(
        trace::FreeRequested{.device = Number(block.device), .address = block.address.value()});
    if (const auto freed = log_.Forget(block.device, block.address)) {
      log_.run().FreeRequested({block.address, block.device}, *freed, log_.sequence());
    }
  });
}

void BlockRecorder::FreeCompleted(const BlockEvent& block) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    log_.Append(
        trace::FreeCompleted{.device = Number(block.device), .address = block.address.value()});
    log_.run().FreeCompleted({block.address, block.device});
  });
}

void BlockRecorder::Freed(const BlockEvent& block) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    log_.live().Prefetch(block.device, block.address);
    const uint64_t sequence = log_.AppendFreed(block.device, block.address);
    if (const auto freed = log_.Forget(block.device, block.address)) {
      log_.run().Freed({block.address, block.device}, *freed, sequence);
    }
  });
}

void BlockRecorder::Reserved(const RangeEvent& range) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    log_.Append(trace::Reserve{.device = Number(range.device),
                               .address = range.address.value(),
                               .size = range.size,
                               .stream = Number(range.stream)});
  });
}

void BlockRecorder::Mapped(const RangeEvent& range) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    log_.Append(trace::Map{.device = Number(range.device),
                           .address = range.address.value(),
                           .size = range.size,
                           .stream = Number(range.stream)});
  });
}

void BlockRecorder::Unmapped(const RangeEvent& range) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    log_.Append(trace::Unmap{
        .device = Number(range.device), .address = range.address.value(), .size = range.size});
  });
}

void BlockRecorder::OutOfMemory(const OutOfMemoryEvent& /*event*/) {}

void BlockRecorder::NoteOutOfMemory(const OutOfMemoryEvent& event,
                                    std::span<const trace::CardLedger> cards) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    const AllocationContext context = contexts_.Unpack(event.context);
    log_.Append(trace::OutOfMemory{.device = Number(event.device),
                                   .stream = Number(event.stream),
                                   .requested = event.requested,
                                   .allocated = event.allocated,
                                   .obtainable = event.obtainable,
                                   .limit = event.limit,
                                   .stack = context.stack,
                                   .owner = context.owner,
                                   .module = context.module,
                                   .cards = {cards.begin(), cards.end()}});
    log_.Summarise(/*is_last=*/false);  // no further event may follow
  });
}

void BlockRecorder::Relabel(DeviceIndex device, DeviceAddress address, Bytes size, trace::Role role,
                            std::string_view owner, std::string_view path) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    trace::DefinitionWriter& names = log_.writer().definitions();
    Label(device, address, size,
          {.role = role, .owner = names.String(owner), .path = names.String(path)});
  });
}

void BlockRecorder::RelabelFor(DeviceIndex device, DeviceAddress address, Bytes size,
                               trace::Role role, DeviceAddress of, std::string_view path) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    const LiveBlock* block = log_.live().Find(device, address);
    const LiveBlock* served = log_.live().Find(device, of);
    const bool is_ownerless = block != nullptr && block->owner == 0;
    Label(device, address, size,
          {.role = role,
           .owner = is_ownerless && served != nullptr ? served->owner : 0,
           .path = log_.writer().definitions().String(path)});
  });
}

void BlockRecorder::Label(DeviceIndex device, DeviceAddress address, Bytes size,
                          const trace::Label& label) {
  if (size == 0 || !log_.live().Relabel(device, address, size, label)) return;
  const LiveBlock* block = log_.live().Find(device, address);
  const bool is_whole = block != nullptr && size >= block->requested;
  const trace::Relabel event{.device = Number(device),
                             .address = address.value(),
                             .size = is_whole ? 0 : size,
                             .role = label.role,
                             .owner = label.owner,
                             .path = label.path};
  log_.Append(event);
  log_.run().Labelled(event, is_whole ? block : nullptr);
}

void BlockRecorder::TieActivities() {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    if (operations_ == nullptr) operations_ = std::make_unique<OperationBlocks>();
  });
}

// All activities get one event time, that of their arrival; they contain their own times.
void BlockRecorder::NoteActivities(std::span<const ToldActivity> told) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    const uint64_t now = log_.clock().Now();
    for (const ToldActivity& one : told) {
      trace::Activity activity = one.activity;
      activity.start_ns = log_.clock().Of(activity.start_ns);
      activity.name = log_.writer().definitions().String(one.name);
      if (operations_ != nullptr) activity.block = operations_->Of(one.operation);
      log_.AppendAt(now, activity);
    }
  });
}

std::vector<HeldBytes> BlockRecorder::TopOwners(DeviceIndex device, size_t most) const {
  std::vector<HeldBytes> owners;
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    const trace::DefinitionWriter& names = log_.writer().definitions();
    for (const LiveTable::Group& group : log_.live().LargestGroups(device, most)) {
      std::string owner = group.owner == 0 ? "" : std::string(names.Text(group.owner));
      owners.push_back({.role = group.role, .owner = std::move(owner), .bytes = group.bytes});
    }
  });
  return owners;
}

std::vector<PlacedBlock> BlockRecorder::BlocksInUse(DeviceIndex device, trace::Phase& now) const {
  std::vector<PlacedBlock> blocks;
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    now = log_.run().position().phase;
    log_.live().ForEach([&](const LiveTable::Key& key, const LiveBlock& block) {
      if (key.second == static_cast<int32_t>(device)) blocks.push_back({key.first, block});
    });
  });
  return blocks;
}

}  // namespace memtrace::recorder
