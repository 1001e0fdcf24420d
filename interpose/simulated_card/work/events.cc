// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/events.h"

#include <algorithm>
#include <utility>

#include "base/mutex.h"

namespace memtrace::card {

Event* Events::Find(const void* handle) const {
  const auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

Event* Events::Create(unsigned flags) {
  auto event = std::make_unique<Event>();
  event->flags = flags;
  Event* const handle = event.get();
  const MutexLock lock(progress_.mutex());
  events_.emplace(handle, std::move(event));
  return handle;
}

Result Events::CheckInterprocess(const void* handle) const {
  const MutexLock lock(progress_.mutex());
  const Event* event = Find(handle);
  const bool shared = event != nullptr && (event->flags & kEventInterprocess) != 0;
  return shared ? Result::kSuccess : Result::kInvalidHandle;
}

Result Events::Destroy(const void* handle) {
  const MutexLock lock(progress_.mutex());
  return events_.erase(handle) == 1 ? Result::kSuccess : Result::kInvalidHandle;
}

Result Events::Record(const void* event_handle, const void* stream_handle, int device,
                      bool external) {
  Progress::Lock lock(progress_.mutex());
  Stream* stream = streams_.Find(stream_handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  if (stream->capture == nullptr) streams_.Join(stream, lock);
  Event* event = Find(event_handle);
  if (event == nullptr) return Result::kInvalidHandle;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture != nullptr && capture->invalidated) return Result::kCaptureInvalidated;
  if (capture != nullptr && external) {
    return captures_.AddNode(
        stream, NodeType::kEventRecord,
        [this, event_handle](const Work& launch) { return RecordAt(event_handle, launch); });
  }
  Mark(event, stream);
  if (capture != nullptr) Captures::Mark(stream, event);
  return Result::kSuccess;
}

// The event marks all work that is now in the stream.
void Events::Mark(Event* event, Stream* stream) const {
  event->recorded = true;
  event->work = LastOf(stream);
  event->questions = 0;
  event->nanoseconds = progress_.TimeOf(*stream);
  event->capture.reset();
}

Result Events::RecordAt(const void* handle, const Work& launch) {
  const MutexLock lock(progress_.mutex());
  Event* event = Find(handle);
  if (event == nullptr) return Result::kInvalidHandle;
  Mark(event, launch.stream.get());
  return Result::kSuccess;
}

Result Events::WaitAt(const void* handle, const Work& launch) {
  Progress::Lock lock(progress_.mutex());
  const Event* event = Find(handle);
  if (event == nullptr) return Result::kInvalidHandle;
  const Work work = event->work;
  launch.stream->nanoseconds = std::max(launch.stream->nanoseconds, event->nanoseconds);
  progress_.Await(launch.stream.get(), work, lock);
  return Result::kSuccess;
}

Result Events::Wait(const void* handle, int device, const void* event_handle, bool external) {
  Progress::Lock lock(progress_.mutex());
  Stream* stream = streams_.Find(handle, device);
  const Event* event = Find(event_handle);
  if (stream == nullptr || event == nullptr) return Result::kInvalidHandle;
  if (stream->capture != nullptr || captures_.CaptureOf(*event) != nullptr) {
    HostWork node;
    if (external)
      node = [this, event_handle](const Work& launch) { return WaitAt(event_handle, launch); };
    return captures_.Wait(stream, *event, std::move(node));
  }
  if (!event->recorded) return Result::kSuccess;
  stream->nanoseconds = std::max(stream->nanoseconds, event->nanoseconds);
  const Work work = event->work;
  streams_.Join(stream, lock);
  progress_.Await(stream, work, lock);
  return Result::kSuccess;
}

Result Events::Query(const void* handle) {
  Progress::Lock lock(progress_.mutex());
  Event* event = Find(handle);
  if (event == nullptr) return Result::kInvalidHandle;
  const Result allowed = captures_.RefuseQueryInCapture(*event);
  if (allowed != Result::kSuccess) return allowed;
  // Copied, because a call of the host on the way may record the event again or destroy it.
  const Work work = event->work;
  return progress_.Answer(work, &event->questions, lock);
}

Result Events::Synchronize(const void* handle) {
  Progress::Lock lock(progress_.mutex());
  const Event* event = Find(handle);
  if (event == nullptr) return Result::kInvalidHandle;
  const Result allowed = captures_.RefuseQueryInCapture(*event);
  if (allowed != Result::kSuccess) return allowed;
  progress_.AdvanceHostTo(event->nanoseconds);
  const Work work = event->work;
  return progress_.WaitFor(work, lock);
}

Result Events::ElapsedMilliseconds(const void* start_handle, const void* end_handle,
                                   float* milliseconds) const {
  constexpr float kShortest = 1e-3f;
  const MutexLock lock(progress_.mutex());
  const Event* start = Find(start_handle);
  const Event* end = Find(end_handle);
  for (const Event* event : {start, end}) {
    if (event == nullptr || !event->recorded || (event->flags & kEventDisableTiming) != 0) {
      return Result::kInvalidHandle;
    }
  }
  for (const Event* event : {start, end}) {
    if (progress_.Defers() && !IsDone(event->work)) return Result::kNotReady;
  }
  const float elapsed = static_cast<float>(end->nanoseconds - start->nanoseconds) * 1e-6f;
  *milliseconds = elapsed >= 0 ? std::max(elapsed, kShortest) : elapsed;
  return Result::kSuccess;
}

std::size_t Events::Live() const {
  const MutexLock lock(progress_.mutex());
  return events_.size();
}

}  // namespace memtrace::card
