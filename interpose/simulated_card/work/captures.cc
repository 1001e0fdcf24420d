// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/captures.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

thread_local CaptureMode thread_capture_mode = CaptureMode::kGlobal;

void AddTo(Capture::Frontier& frontier, const Capture::Frontier& more) {
  for (GraphNode* node : more) {
    if (std::find(frontier.begin(), frontier.end(), node) == frontier.end())
      frontier.push_back(node);
  }
}

CaptureStatus StatusOf(const Stream& stream) {
  if (stream.capture == nullptr) return CaptureStatus::kNone;
  return stream.capture->invalidated ? CaptureStatus::kInvalidated : CaptureStatus::kActive;
}

}  // namespace

std::shared_ptr<Capture> Captures::CaptureOf(const Event& event) const {
  std::shared_ptr<Capture> capture = event.capture.lock();
  return capture != nullptr && current_.contains(capture.get()) ? capture : nullptr;
}

Result Captures::RefuseImplicitDependency(const Stream& stream) {
  if (current_.empty() || stream.id != 0) return Result::kSuccess;
  bool refused = false;
  for (Capture* capture : current_) {
    for (const auto& [captured, frontier] : capture->streams) {
      const bool blocking = (captured->flags & kNonBlockingStream) == 0;
      if (!blocking || captured->device != stream.device) continue;
      capture->invalidated = true;
      refused = true;
    }
  }
  return refused ? Result::kCaptureImplicit : Result::kSuccess;
}

Result Captures::RefuseQueryInCapture(const Event& event) const {
  const std::shared_ptr<Capture> capture = CaptureOf(event);
  if (capture == nullptr) return Result::kSuccess;
  capture->invalidated = true;
  return Result::kCapturedEvent;
}

Result Captures::FindCapturing(const void* handle, int device, Stream** stream) const {
  *stream = streams_.Find(handle, device);
  if (*stream == nullptr) return Result::kInvalidHandle;
  return (*stream)->capture != nullptr ? Result::kSuccess : Result::kIllegalState;
}

Result Captures::Extend(Stream* stream, const NodeMaker& add) {
  Capture& capture = *stream->capture;
  if (capture.invalidated) return Result::kCaptureInvalidated;
  Capture::Frontier& frontier = capture.streams[stream];
  GraphNode* node = nullptr;
  const Result added = add(capture.graph, frontier, &node);
  if (added == Result::kSuccess) frontier = {node};
  return added;
}

Result Captures::AddNode(Stream* stream, NodeType type, HostWork work) {
  return Extend(stream, [&](Graph* graph, const Capture::Frontier& after, GraphNode** node) {
    return graphs_.Add(graph, type, after, std::move(work), node);
  });
}

Result Captures::AddMemory(const void* handle, int device, const GraphMemoryStep& step,
                           HostWork work) {
  const MutexLock lock(progress_.mutex());
  Stream* stream = nullptr;
  const Result found = FindCapturing(handle, device, &stream);
  if (found != Result::kSuccess) return found;
  return Extend(stream, [&](Graph* graph, const Capture::Frontier& after, GraphNode** node) {
    return graphs_.AddMemory(graph, after, step, std::move(work), node);
  });
}

void Captures::Mark(Stream* stream, Event* event) {
  const std::shared_ptr<Capture>& capture = stream->capture;
  capture->events[event] = capture->streams[stream];
  event->work = {};
  event->capture = capture;
}

Result Captures::Wait(Stream* stream, const Event& event, HostWork external) {
  const std::shared_ptr<Capture> theirs = CaptureOf(event);
  if (stream->capture == nullptr) {
    // Waiting for a captured event draws the stream into the capture (a fork).
    stream->capture = theirs;
    theirs->streams[stream] = theirs->events.at(&event);
    return Result::kSuccess;
  }
  Capture& ours = *stream->capture;
  if (ours.invalidated) return Result::kCaptureInvalidated;
  if (external != nullptr) return AddNode(stream, NodeType::kWaitEvent, std::move(external));
  if (theirs == stream->capture) {
    AddTo(ours.streams[stream], ours.events.at(&event));
    return Result::kSuccess;
  }
  // Waiting for an event that was never recorded does nothing.
  if (theirs == nullptr && !event.recorded) return Result::kSuccess;
  ours.invalidated = true;
  if (theirs == nullptr) return Result::kCaptureIsolation;
  theirs->invalidated = true;
  return Result::kCaptureMerge;
}

Result Captures::Begin(const void* handle, int device, CaptureMode mode, Graph* graph,
                       Capture::Frontier first) {
  const MutexLock lock(progress_.mutex());
  if (StreamTable::IsDefault(handle)) return Result::kCaptureUnsupported;
  Stream* stream = streams_.Find(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  if (stream->capture != nullptr) return Result::kIllegalState;
  stream->capture =
      std::make_shared<Capture>(Capture{.id = next_id_++,
                                        .mode = mode,
                                        .thread = std::this_thread::get_id(),
                                        .origin = stream,
                                        .graph = graph != nullptr ? graph : graphs_.Create(),
                                        .owns_graph = graph == nullptr,
                                        .streams = {{stream, std::move(first)}},
                                        .events = {}});
  current_.insert(stream->capture.get());
  are_any_ = true;
  return Result::kSuccess;
}

// All streams that joined leave the capture.
void Captures::Finish(const std::shared_ptr<Capture>& capture) {
  current_.erase(capture.get());
  are_any_ = !current_.empty();
  for (const auto& [stream, frontier] : capture->streams) stream->capture = nullptr;
}

void Captures::Abandon(const std::shared_ptr<Capture>& capture) {
  // The caller's may be a stream's own, which Finish() resets.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const std::shared_ptr<Capture> kept = capture;
  Finish(kept);
  if (kept->owns_graph) graphs_.Destroy(kept->graph);
}

void Captures::Leave(Stream* stream) {
  if (stream->capture == nullptr) return;
  if (stream->capture->origin == stream) return Abandon(stream->capture);
  // The order of the work is known, but the stream can no longer join the origin.
  stream->capture->invalidated = true;
  stream->capture->streams.erase(stream);
}

// The origin's end must depend on the last node of every stream that joined. A stream that joined
// and did nothing is joined already, because its frontier is the origin's own past.
bool Captures::IsJoined(const Capture& capture) const {
  const Capture::Frontier& end = capture.streams.at(capture.origin);
  return std::all_of(capture.streams.begin(), capture.streams.end(), [&](const auto& stream) {
    return graphs_.AreReachedFrom(stream.second, end);
  });
}

Result Captures::End(const void* handle, int device, Graph** graph) {
  *graph = nullptr;
  const MutexLock lock(progress_.mutex());
  Stream* stream = nullptr;
  const Result found = FindCapturing(handle, device, &stream);
  if (found != Result::kSuccess) return found;
  const std::shared_ptr<Capture> capture = stream->capture;
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

Result Captures::StateOf(const void* handle, int device, CaptureStatus* status,
                         CaptureView* capture) const {
  const MutexLock lock(progress_.mutex());
  Stream* stream = streams_.Find(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  *status = StatusOf(*stream);
  if (*status == CaptureStatus::kActive && capture != nullptr) {
    *capture = {stream->capture->id, stream->capture->graph, stream->capture->streams.at(stream)};
  }
  return Result::kSuccess;
}

Result Captures::ChangeFrontier(const void* handle, int device, const Capture::Frontier& nodes,
                                bool replace) {
  const MutexLock lock(progress_.mutex());
  Stream* stream = nullptr;
  const Result found = FindCapturing(handle, device, &stream);
  if (found != Result::kSuccess) return found;
  if (stream->capture->invalidated) return Result::kCaptureInvalidated;
  Capture::Frontier& frontier = stream->capture->streams[stream];
  if (replace) frontier.clear();
  AddTo(frontier, nodes);
  return Result::kSuccess;
}

CaptureMode Captures::ExchangeMode(CaptureMode mode) {
  return std::exchange(thread_capture_mode, mode);
}

// According to cuda.h (cuThreadExchangeStreamCaptureMode), a global thread must respect every
// global capture, and any thread that is not relaxed its own captures that are not relaxed.
Result Captures::CheckUnsafeCall() {
  const MutexLock lock(progress_.mutex());
  bool forbidden = false;
  for (Capture* capture : current_) {
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
