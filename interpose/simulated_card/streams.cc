// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/streams.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace memtrace::card {
namespace {

// Legacy, legacy by name and per-thread default stream (cuda.h: 0, 1, 2). All three are one stream
// here: in order, which is stricter than per-thread streams need.
bool IsDefaultStream(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle) <= 2; }

std::int64_t Now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

}  // namespace

Streams::Streams(int devices) {
  for (int device = 0; device < devices; ++device) {
    default_streams_.push_back(std::make_unique<Stream>());
    default_streams_.back()->device = device;
  }
}

Streams::~Streams() {
  for (Stream* stream : streams_) delete stream;
  for (Event* event : events_) delete event;
}

Stream* Streams::FindStream(const void* handle, int device) const {
  if (IsDefaultStream(handle)) return default_streams_[static_cast<std::size_t>(device)].get();
  // The set is asked with the address only; it is not followed unless it is found.
  const auto found = streams_.find(static_cast<Stream*>(const_cast<void*>(handle)));
  return found == streams_.end() ? nullptr : *found;
}

Event* Streams::FindEvent(const void* handle) const {
  const auto found = events_.find(static_cast<Event*>(const_cast<void*>(handle)));
  return found == events_.end() ? nullptr : *found;
}

Stream* Streams::CreateStream(int device, unsigned flags, int priority) {
  const std::lock_guard lock(mutex_);
  auto* stream = new Stream{.id = next_stream_id_++,
                            .device = device,
                            .flags = flags,
                            .priority = std::clamp(priority, kHighestPriority, kLowestPriority),
                            .capture = nullptr};
  streams_.insert(stream);
  return stream;
}

Result Streams::DestroyStream(const void* handle) {
  const std::lock_guard lock(mutex_);
  Stream* stream = IsDefaultStream(handle) ? nullptr : FindStream(handle, 0);
  if (stream == nullptr) return Result::kInvalidHandle;
  if (stream->capture != nullptr && stream->capture->origin == stream) {
    Abandon(stream->capture);
  } else if (stream->capture != nullptr) {
    // The order of the work is known; the capture can only no longer be joined.
    stream->capture->invalidated = true;
    stream->capture->streams.erase(stream);
  }
  streams_.erase(stream);
  delete stream;
  return Result::kSuccess;
}

Result Streams::Describe(const void* handle, int device, Stream* copy) const {
  const std::lock_guard lock(mutex_);
  const Stream* stream = FindStream(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  *copy = *stream;
  return Result::kSuccess;
}

Result Streams::Submit(const void* handle, int device) {
  return Perform(handle, device, NodeType::kKernel, nullptr);
}

Result Streams::Perform(const void* handle, int device, NodeType type, HostWork work) {
  {
    const std::lock_guard lock(mutex_);
    Stream* stream = FindStream(handle, device);
    if (stream == nullptr) return Result::kInvalidHandle;
    if (stream->capture != nullptr) return AddNode(stream, type, std::move(work));
    const Result allowed = RefuseImplicitDependency(*stream);
    if (allowed != Result::kSuccess) return allowed;
    stream->completed = ++stream->submitted;
  }
  return work == nullptr ? Result::kSuccess : work();
}

// Asking a capturing stream about its progress has no answer; it ends the capture.
Result Streams::RefuseWhileCapturing(Stream* stream) {
  if (stream->capture == nullptr) return Result::kSuccess;
  stream->capture->invalidated = true;
  return Result::kCaptureUnsupported;
}

Result Streams::Query(const void* handle, int device) {
  const std::lock_guard lock(mutex_);
  Stream* stream = FindStream(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  const Result allowed = RefuseWhileCapturing(stream);
  if (allowed != Result::kSuccess) return allowed;
  return stream->completed == stream->submitted ? Result::kSuccess : Result::kNotReady;
}

Result Streams::Synchronize(const void* handle, int device) {
  const std::lock_guard lock(mutex_);
  Stream* stream = FindStream(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  const Result allowed = RefuseWhileCapturing(stream);
  if (allowed == Result::kSuccess) stream->completed = stream->submitted;
  return allowed;
}

Result Streams::SynchronizeDevice(int device) {
  const Result allowed = CheckUnsafeCall();
  if (allowed != Result::kSuccess) return allowed;
  const std::lock_guard lock(mutex_);
  Stream* const first = FindStream(nullptr, device);
  first->completed = first->submitted;
  for (Stream* stream : streams_) {
    if (stream->device == device) stream->completed = stream->submitted;
  }
  return Result::kSuccess;
}

Result Streams::WaitEvent(const void* handle, int device, const void* event_handle, bool external) {
  const std::lock_guard lock(mutex_);
  Stream* stream = FindStream(handle, device);
  const Event* event = FindEvent(event_handle);
  if (stream == nullptr || event == nullptr) return Result::kInvalidHandle;
  return WaitInCapture(stream, event, event_handle, external);
}

Event* Streams::CreateEvent(unsigned flags) {
  auto* event = new Event{.flags = flags, .capture = {}};
  const std::lock_guard lock(mutex_);
  events_.insert(event);
  return event;
}

Result Streams::DestroyEvent(const void* handle) {
  const std::lock_guard lock(mutex_);
  Event* event = FindEvent(handle);
  if (event == nullptr) return Result::kInvalidHandle;
  events_.erase(event);
  delete event;
  return Result::kSuccess;
}

Result Streams::RecordEvent(const void* event_handle, const void* stream_handle, int device,
                            bool external) {
  const std::lock_guard lock(mutex_);
  Event* event = FindEvent(event_handle);
  Stream* stream = FindStream(stream_handle, device);
  if (event == nullptr || stream == nullptr) return Result::kInvalidHandle;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture != nullptr && capture->invalidated) return Result::kCaptureInvalidated;
  if (capture != nullptr && external) {
    return AddNode(stream, NodeType::kEventRecord, [this, event_handle, device] {
      return RecordEvent(event_handle, nullptr, device);
    });
  }
  if (capture != nullptr) capture->events[event] = capture->streams[stream];
  *event = Event{.flags = event->flags,
                 .recorded = true,
                 .stream_id = stream->id,
                 .work = stream->submitted,
                 .nanoseconds = Now(),
                 .capture = capture};
  return Result::kSuccess;
}

Result Streams::QueryEvent(const void* handle) {
  const std::lock_guard lock(mutex_);
  const Event* event = FindEvent(handle);
  if (event == nullptr) return Result::kInvalidHandle;
  const std::shared_ptr<Capture> capture = event->capture.lock();
  if (capture != nullptr && IsGoingOn(*capture)) {
    capture->invalidated = true;
    return Result::kCapturedEvent;
  }
  // Eager: whatever was recorded is done.
  return Result::kSuccess;
}

Result Streams::SynchronizeEvent(const void* handle) { return QueryEvent(handle); }

Result Streams::ElapsedMilliseconds(const void* start_handle, const void* end_handle,
                                    float* milliseconds) const {
  constexpr float kShortest = 1e-3f;
  const std::lock_guard lock(mutex_);
  const Event* start = FindEvent(start_handle);
  const Event* end = FindEvent(end_handle);
  for (const Event* event : {start, end}) {
    if (event == nullptr || !event->recorded || (event->flags & kEventDisableTiming) != 0) {
      return Result::kInvalidHandle;
    }
  }
  const float elapsed = static_cast<float>(end->nanoseconds - start->nanoseconds) * 1e-6f;
  *milliseconds = elapsed >= 0 ? std::max(elapsed, kShortest) : elapsed;
  return Result::kSuccess;
}

}  // namespace memtrace::card
