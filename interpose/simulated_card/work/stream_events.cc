// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// The part of Streams that is about events.
#include <algorithm>

#include "base/mutex.h"
#include "interpose/simulated_card/work/streams.h"

namespace memtrace::card {

Event* Streams::FindEvent(const void* handle) const {
  const auto found = events_.find(static_cast<Event*>(const_cast<void*>(handle)));
  return found == events_.end() ? nullptr : *found;
}

Event* Streams::CreateEvent(unsigned flags) {
  auto* event = new Event;
  event->flags = flags;
  const MutexLock lock(mutex_);
  events_.insert(event);
  return event;
}

Result Streams::CheckInterprocess(const void* handle) const {
  const MutexLock lock(mutex_);
  const Event* event = FindEvent(handle);
  const bool shared = event != nullptr && (event->flags & kEventInterprocess) != 0;
  return shared ? Result::kSuccess : Result::kInvalidHandle;
}

Result Streams::DestroyEvent(const void* handle) {
  const MutexLock lock(mutex_);
  Event* event = FindEvent(handle);
  if (event == nullptr) return Result::kInvalidHandle;
  events_.erase(event);
  delete event;
  return Result::kSuccess;
}

Result Streams::RecordEvent(const void* event_handle, const void* stream_handle, int device,
                            bool external) {
  Lock lock(mutex_);
  Stream* stream = FindStream(stream_handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  if (stream->capture == nullptr) Join(stream, lock);
  Event* event = FindEvent(event_handle);
  if (event == nullptr) return Result::kInvalidHandle;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture != nullptr && capture->invalidated) return Result::kCaptureInvalidated;
  if (capture != nullptr && external) {
    return AddNode(stream, NodeType::kEventRecord, [this, event_handle](const Work& launch) {
      return RecordEventAt(event_handle, launch);
    });
  }
  Mark(event, stream);
  if (capture == nullptr) return Result::kSuccess;
  capture->events[event] = capture->streams[stream];
  event->work = {};
  event->capture = capture;
  return Result::kSuccess;
}

// The event stands for all that is now in the stream.
void Streams::Mark(Event* event, Stream* stream) const {
  event->recorded = true;
  event->work = {stream->shared_from_this(), stream->submitted};
  event->questions = 0;
  event->nanoseconds = std::max(stream->nanoseconds, host_nanoseconds_);
  event->capture.reset();
}

Result Streams::RecordEventAt(const void* handle, const Work& launch) {
  const MutexLock lock(mutex_);
  Event* event = FindEvent(handle);
  if (event == nullptr) return Result::kInvalidHandle;
  Mark(event, launch.stream.get());
  return Result::kSuccess;
}

Result Streams::WaitEventAt(const void* handle, const Work& launch) {
  Lock lock(mutex_);
  const Event* event = FindEvent(handle);
  if (event == nullptr) return Result::kInvalidHandle;
  const Work work = event->work;
  launch.stream->nanoseconds = std::max(launch.stream->nanoseconds, event->nanoseconds);
  Await(launch.stream.get(), work, lock);
  return Result::kSuccess;
}

Result Streams::WaitEvent(const void* handle, int device, const void* event_handle, bool external) {
  Lock lock(mutex_);
  Stream* stream = FindStream(handle, device);
  const Event* event = FindEvent(event_handle);
  if (stream == nullptr || event == nullptr) return Result::kInvalidHandle;
  const std::shared_ptr<Capture> capture = event->capture.lock();
  if (stream->capture != nullptr || (capture != nullptr && IsGoingOn(*capture)))
    return WaitInCapture(stream, event, external);
  if (!event->recorded) return Result::kSuccess;
  stream->nanoseconds = std::max(stream->nanoseconds, event->nanoseconds);
  const Work work = event->work;
  Join(stream, lock);
  Await(stream, work, lock);
  return Result::kSuccess;
}

// An event of a capture that is going on marks a place in its graph; to ask for its progress ends
// the capture.
Result Streams::RefuseCaptured(const Event& event) const {
  const std::shared_ptr<Capture> capture = event.capture.lock();
  if (capture == nullptr || !IsGoingOn(*capture)) return Result::kSuccess;
  capture->invalidated = true;
  return Result::kCapturedEvent;
}

Result Streams::QueryEvent(const void* handle) {
  Lock lock(mutex_);
  Event* event = FindEvent(handle);
  if (event == nullptr) return Result::kInvalidHandle;
  const Result allowed = RefuseCaptured(*event);
  if (allowed != Result::kSuccess) return allowed;
  // A copy: while the host is called on the way, the event may be recorded again or destroyed.
  const Work work = event->work;
  return Answer(work, &event->questions, lock);
}

Result Streams::SynchronizeEvent(const void* handle) {
  Lock lock(mutex_);
  const Event* event = FindEvent(handle);
  if (event == nullptr) return Result::kInvalidHandle;
  const Result allowed = RefuseCaptured(*event);
  if (allowed != Result::kSuccess) return allowed;
  host_nanoseconds_ = std::max(host_nanoseconds_, event->nanoseconds);
  const Work work = event->work;
  return WaitFor(work, lock);
}

Result Streams::ElapsedMilliseconds(const void* start_handle, const void* end_handle,
                                    float* milliseconds) const {
  constexpr float kShortest = 1e-3f;
  const MutexLock lock(mutex_);
  const Event* start = FindEvent(start_handle);
  const Event* end = FindEvent(end_handle);
  for (const Event* event : {start, end}) {
    if (event == nullptr || !event->recorded || (event->flags & kEventDisableTiming) != 0) {
      return Result::kInvalidHandle;
    }
  }
  for (const Event* event : {start, end}) {
    const bool is_done =
        event->work.stream == nullptr || event->work.stream->completed >= event->work.number;
    if (Defers() && !is_done) return Result::kNotReady;
  }
  const float elapsed = static_cast<float>(end->nanoseconds - start->nanoseconds) * 1e-6f;
  *milliseconds = elapsed >= 0 ? std::max(elapsed, kShortest) : elapsed;
  return Result::kSuccess;
}

std::size_t Streams::LiveEvents() const {
  const MutexLock lock(mutex_);
  return events_.size();
}

}  // namespace memtrace::card
