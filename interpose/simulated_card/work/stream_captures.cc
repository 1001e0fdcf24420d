// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// The captures of Streams. Rules: cuda.h, cuStreamBeginCapture and
// cuThreadExchangeStreamCaptureMode; the programming guide, "Creating a Graph Using Stream
// Capture".
#include <algorithm>
#include <utility>

#include "base/mutex.h"
#include "interpose/simulated_card/work/streams.h"

namespace memtrace::card {
namespace {

thread_local CaptureMode thread_capture_mode = CaptureMode::kGlobal;

bool IsDefaultStream(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle) <= 2; }

void AddTo(Capture::Frontier& frontier, const Capture::Frontier& more) {
  for (GraphNode* node : more) {
    if (std::find(frontier.begin(), frontier.end(), node) == frontier.end())
      frontier.push_back(node);
  }
}

}  // namespace

bool Streams::IsGoingOn(const Capture& capture) const {
  return going_on_.contains(const_cast<Capture*>(&capture));
}

// The default stream waits for all blocking streams of its device; of a capturing one it cannot.
Result Streams::RefuseImplicitDependency(const Stream& stream) {
  if (going_on_.empty() || stream.id != 0) return Result::kSuccess;
  bool refused = false;
  for (Capture* capture : going_on_) {
    for (const auto& [captured, frontier] : capture->streams) {
      const bool blocking = (captured->flags & kNonBlockingStream) == 0;
      if (!blocking || captured->device != stream.device) continue;
      capture->invalidated = true;
      refused = true;
    }
  }
  return refused ? Result::kCaptureImplicit : Result::kSuccess;
}

Result Streams::Extend(Stream* stream, const NodeMaker& add) {
  Capture& capture = *stream->capture;
  if (capture.invalidated) return Result::kCaptureInvalidated;
  Capture::Frontier& frontier = capture.streams[stream];
  GraphNode* node = nullptr;
  const Result added = add(capture.graph, frontier, &node);
  if (added == Result::kSuccess) frontier = {node};
  return added;
}

Result Streams::AddNode(Stream* stream, NodeType type, HostWork work) {
  return Extend(stream, [&](Graph* graph, const Capture::Frontier& after, GraphNode** node) {
    return graphs_.Add(graph, type, after, std::move(work), node);
  });
}

Result Streams::CaptureMemory(const void* handle, int device, const GraphMemoryStep& step,
                              HostWork work) {
  const MutexLock lock(mutex_);
  Stream* stream = FindStream(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  if (stream->capture == nullptr) return Result::kIllegalState;
  return Extend(stream, [&](Graph* graph, const Capture::Frontier& after, GraphNode** node) {
    return graphs_.AddMemory(graph, after, step, std::move(work), node);
  });
}

Result Streams::WaitInCapture(Stream* stream, const Event* event, bool external) {
  const std::shared_ptr<Capture> theirs = event->capture.lock();
  const bool captured = theirs != nullptr && IsGoingOn(*theirs);
  if (stream->capture == nullptr) {
    // Waiting for a captured event draws the stream into the capture (a fork).
    stream->capture = theirs;
    theirs->streams[stream] = theirs->events.at(event);
    return Result::kSuccess;
  }
  Capture& ours = *stream->capture;
  if (ours.invalidated) return Result::kCaptureInvalidated;
  if (external) {
    return AddNode(stream, NodeType::kWaitEvent,
                   [this, event](const Work& launch) { return WaitEventAt(event, launch); });
  }
  if (captured && theirs == stream->capture) {
    AddTo(ours.streams[stream], ours.events.at(event));
    return Result::kSuccess;
  }
  // An event that was never recorded is one that nobody waits for.
  if (!captured && !event->recorded) return Result::kSuccess;
  ours.invalidated = true;
  if (!captured) return Result::kCaptureIsolation;
  theirs->invalidated = true;
  return Result::kCaptureMerge;
}

Result Streams::BeginCapture(const void* handle, int device, CaptureMode mode, Graph* graph,
                             Capture::Frontier first) {
  const MutexLock lock(mutex_);
  if (IsDefaultStream(handle)) return Result::kCaptureUnsupported;
  Stream* stream = FindStream(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  if (stream->capture != nullptr) return Result::kIllegalState;
  stream->capture =
      std::make_shared<Capture>(Capture{.id = next_capture_id_++,
                                        .mode = mode,
                                        .thread = std::this_thread::get_id(),
                                        .origin = stream,
                                        .graph = graph != nullptr ? graph : graphs_.Create(),
                                        .owns_graph = graph == nullptr,
                                        .streams = {{stream, std::move(first)}},
                                        .events = {}});
  going_on_.insert(stream->capture.get());
  return Result::kSuccess;
}

// All streams that joined leave the capture.
void Streams::Finish(const std::shared_ptr<Capture>& capture) {
  going_on_.erase(capture.get());
  for (const auto& [stream, owner] : streams_) {
    if (stream->capture == capture) stream->capture = nullptr;
  }
  for (const auto& stream : default_streams_) {
    if (stream->capture == capture) stream->capture = nullptr;
  }
}

void Streams::Abandon(const std::shared_ptr<Capture>& capture) {
  // The caller's may be a stream's own, which Finish() resets.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const std::shared_ptr<Capture> kept = capture;
  Finish(kept);
  if (kept->owns_graph) graphs_.Destroy(kept->graph);
}

// The origin's end depends on the last node of every stream that joined. A stream that joined and
// did nothing is joined already: its frontier is the origin's own past.
bool Streams::IsJoined(const Capture& capture) const {
  const Capture::Frontier& end = capture.streams.at(capture.origin);
  return std::all_of(capture.streams.begin(), capture.streams.end(), [&](const auto& stream) {
    return graphs_.AreReachedFrom(stream.second, end);
  });
}

Result Streams::EndCapture(const void* handle, int device, Graph** graph) {
  *graph = nullptr;
  const MutexLock lock(mutex_);
  Stream* stream = FindStream(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return Result::kIllegalState;
  if (capture->origin != stream) {
    capture->invalidated = true;
    return Result::kCaptureUnmatched;
  }
  if (capture->mode != CaptureMode::kRelaxed && capture->thread != std::this_thread::get_id())
    return Result::kCaptureWrongThread;
  if (capture->invalidated || !IsJoined(*capture)) {
    Abandon(capture);
    return capture->invalidated ? Result::kCaptureInvalidated : Result::kCaptureUnjoined;
  }
  Finish(capture);
  *graph = capture->graph;
  return Result::kSuccess;
}

Result Streams::CaptureState(const void* handle, int device, CaptureStatus* status,
                             CaptureView* capture) const {
  const MutexLock lock(mutex_);
  const Stream* stream = FindStream(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  *status = stream->capture == nullptr     ? CaptureStatus::kNone
            : stream->capture->invalidated ? CaptureStatus::kInvalidated
                                           : CaptureStatus::kActive;
  if (*status == CaptureStatus::kActive && capture != nullptr) {
    *capture = {stream->capture->id, stream->capture->graph, stream->capture->streams.at(stream)};
  }
  return Result::kSuccess;
}

Result Streams::ChangeFrontier(const void* handle, int device, const Capture::Frontier& nodes,
                               bool replace) {
  const MutexLock lock(mutex_);
  Stream* stream = FindStream(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  if (stream->capture == nullptr) return Result::kIllegalState;
  if (stream->capture->invalidated) return Result::kCaptureInvalidated;
  Capture::Frontier& frontier = stream->capture->streams[stream];
  if (replace) frontier.clear();
  AddTo(frontier, nodes);
  return Result::kSuccess;
}

CaptureMode Streams::ExchangeCaptureMode(CaptureMode mode) {
  return std::exchange(thread_capture_mode, mode);
}

// cuda.h, cuThreadExchangeStreamCaptureMode: a global thread must respect every global capture, and
// any thread that is not relaxed its own captures that are not relaxed.
Result Streams::CheckUnsafeCall() {
  const MutexLock lock(mutex_);
  bool forbidden = false;
  for (Capture* capture : going_on_) {
    const bool everyones =
        capture->mode == CaptureMode::kGlobal && thread_capture_mode == CaptureMode::kGlobal;
    const bool own = capture->thread == std::this_thread::get_id() &&
                     capture->mode != CaptureMode::kRelaxed &&
                     thread_capture_mode != CaptureMode::kRelaxed;
    if (!everyones && !own) continue;
    capture->invalidated = true;
    forbidden = true;
  }
  return forbidden ? Result::kCaptureUnsupported : Result::kSuccess;
}

}  // namespace memtrace::card
