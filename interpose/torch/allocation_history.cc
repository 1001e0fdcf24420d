// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/allocation_history.h"

#include <c10/cuda/CUDAFunctions.h>

#include "base/mutex.h"
#include "interpose/torch/core_calls.h"
#include "versioned_actions.h"

namespace memtrace::shim {
namespace {

namespace native = c10::cuda::CUDACachingAllocator;
using Entry = AllocationHistory::Entry;

// Thread-local, because torch's plain threads come and go, and their state ends with them.
thread_local AllocationHistory::Context callers_context;
thread_local std::vector<std::string> compile_contexts;
thread_local std::string user_metadata;

Entry::Action ToTorch(int kind) {
  switch (kind) {
    case MEMTRACE_CHANGE_ALLOCATED:
      return Entry::ALLOC;
    case MEMTRACE_CHANGE_FREE_REQUESTED:
      return Entry::FREE_REQUESTED;
    case MEMTRACE_CHANGE_FREE_COMPLETED:
      return Entry::FREE_COMPLETED;
    case MEMTRACE_CHANGE_MAPPED:
      return Entry::SEGMENT_MAP;
    default:
      return Entry::SEGMENT_UNMAP;
  }
}

constexpr unsigned BitOf(Entry::Action action) { return 1u << static_cast<unsigned>(action); }

}  // namespace

AllocationHistory& AllocationHistory::Get() {
  static auto* history = new AllocationHistory;
  return *history;
}

void AllocationHistory::SetDeviceCount(int count) {
  const MutexLock lock(mutex_);
  while (devices_.size() < static_cast<size_t>(count)) {
    devices_.push_back(std::make_unique<DeviceHistory>());
  }
}

void AllocationHistory::WatchOnce() {
  if (std::exchange(is_watching_, true)) return;
  ThrowUnlessOk(memtrace_watch(
      [](void* user, const memtrace_change* change) {
        static_cast<AllocationHistory*>(user)->Report(*change);
      },
      this));
}

void AllocationHistory::Record(bool enabled, native::CreateContextFn create_context,
                               size_t most_entries, Level level, bool clear,
                               const std::vector<std::string>& skip_actions) {
  TORCH_CHECK(level == Level::NEVER || create_context != nullptr,
              "a history with stacks needs a function that takes them");
  unsigned skipped = 0;
  for (const std::string& action : skip_actions) {
    skipped |= BitOf(ActionOf(action));
  }
  const MutexLock lock(mutex_);
  if (enabled) WatchOnce();
  skipped_ = skipped;
  create_context_ = enabled ? create_context : nullptr;
  asked = enabled ? level : Level::NEVER;
  is_recording_ = enabled;
  for (const auto& device : devices_) {
    device->SetCapacity(most_entries);
    if (!enabled || clear) device->Clear();
  }
  const MutexLock annotations_lock(annotations_mutex_);
  annotations_.SetCapacity(most_entries);
  if (!enabled || clear) annotations_.Clear();
}

void AllocationHistory::Attach(Tracker tracker) {
  const MutexLock lock(mutex_);
  const Trackers* before = trackers_.load(std::memory_order_acquire);
  auto* all = before == nullptr ? new Trackers : new Trackers(*before);
  all->push_back(std::move(tracker));
  trackers_.store(all, std::memory_order_release);
  WatchOnce();
}

bool AllocationHistory::Caller::Take() {
  const auto create = Get().create_context_.load(std::memory_order_acquire);
  if (create == nullptr || callers_context != nullptr) return false;
  callers_context = create();
  return true;
}

void AllocationHistory::Caller::Drop() { callers_context = nullptr; }

Entry AllocationHistory::MakeEntry(Entry::Action action, c10::DeviceIndex device, size_t address,
                                   size_t bytes, void* stream, MempoolId_t pool,
                                   Context context) const {
  const bool has_context = asked.load(std::memory_order_acquire) >= Level::ALLOC;
  return MakeTraceEntry(
      action,
      {.device = device,
       .address = address,
       .bytes = bytes,
       .stream = stream,
       .pool = std::move(pool),
       .time = c10::getApproximateTime(),
       .context = has_context ? std::move(context) : nullptr,
       .compile_context = compile_contexts.empty() ? std::string("N/A") : compile_contexts.back(),
       .user_metadata = user_metadata});
}

void AllocationHistory::Report(const memtrace_change& change) {
  const Entry::Action action = ToTorch(change.kind);
  Context context = devices_[static_cast<size_t>(change.device)]->ContextOf(action, change.address,
                                                                            callers_context);
  if (!is_recording() && trackers_.load(std::memory_order_acquire) == nullptr) return;
  Report(MakeEntry(action, static_cast<c10::DeviceIndex>(change.device), change.address,
                   change.bytes, reinterpret_cast<void*>(change.stream),
                   {change.pool.first, change.pool.second}, std::move(context)));
}

void AllocationHistory::Report(Entry entry) {
  if (const Trackers* trackers = trackers_.load(std::memory_order_acquire)) {
    for (const auto& tracker : *trackers) tracker(entry);
  }
  if (!is_recording() || Skips(entry.action_)) return;
  devices_[static_cast<size_t>(entry.device_)]->Add(std::move(entry));
}

bool AllocationHistory::Skips(Entry::Action action) const {
  return (skipped_.load(std::memory_order_relaxed) & BitOf(action)) != 0;
}

void AllocationHistory::Note(Entry::Action action, c10::DeviceIndex device, size_t address,
                             size_t bytes, void* stream, MempoolId_t pool) {
  if (!is_recording() && trackers_.load(std::memory_order_acquire) == nullptr) return;
  Report(MakeEntry(action, device, address, bytes, stream, std::move(pool), callers_context));
}

void AllocationHistory::Annotate(const std::vector<std::pair<std::string, std::string>>& facts) {
  if (!is_recording()) return;
  AnnotationEntry entry(c10::cuda::current_device(), c10::getApproximateTime());
  for (const auto& [name, value] : facts) entry.recordUserMetadata(name, value);
  const MutexLock lock(annotations_mutex_);
  annotations_.Add(std::move(entry));
}

void AllocationHistory::PushCompileContext(std::string name) {
  compile_contexts.push_back(std::move(name));
}

void AllocationHistory::PopCompileContext() {
  if (!compile_contexts.empty()) compile_contexts.pop_back();
}

void AllocationHistory::SetUserMetadata(std::string metadata) {
  user_metadata = std::move(metadata);
}

std::string AllocationHistory::UserMetadata() { return user_metadata; }

AllocationHistory::Context AllocationHistory::OfBlock(c10::DeviceIndex device,
                                                      size_t address) const {
  return devices_.at(static_cast<size_t>(device))->OfBlock(address);
}

void AllocationHistory::Complete(native::SnapshotInfo& snapshot, bool include_traces) {
  for (auto& segment : snapshot.segments) {
    const DeviceHistory& device = *devices_.at(static_cast<size_t>(segment.device));
    size_t address = segment.address;
    for (auto& block : segment.blocks) {
      if (block.active) block.context_when_allocated = device.OfBlock(address);
      address += block.size;
    }
  }
  const auto to_unix_time = clock_.makeConverter();
  const auto stamp = [&](decltype(Entry::time_)& time) {
    time.t_ = to_unix_time(time.approx_t_) / 1000;  // us
  };
  for (const auto& device : devices_) {
    snapshot.device_traces.emplace_back();
    if (!include_traces) continue;
    snapshot.device_traces.back() = device->Entries();
    for (Entry& entry : snapshot.device_traces.back()) stamp(entry.time_);
  }
  const MutexLock lock(annotations_mutex_);
  snapshot.external_annotations = annotations_.Entries();
  for (auto& annotation : snapshot.external_annotations) stamp(annotation.time_);
}

}  // namespace memtrace::shim
