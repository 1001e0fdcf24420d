// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/streams.h"

#include <algorithm>
#include <utility>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

// A host that asks so often, and does nothing on the card in between, is waiting.
constexpr std::uint64_t kPatience = 1000;
// Waits of one stream for others that may be outstanding.
constexpr std::size_t kMostMilestones = 1 << 16;

// Answered "not ready" to this thread since it last submitted work.
thread_local std::uint64_t thread_questions = 0;

// Legacy, legacy by name and per-thread default stream (cuda.h: 0, 1, 2). All three are one stream
// here: in order, which is stricter than per-thread streams need.
bool IsDefaultStream(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle) <= 2; }

Work LastOf(Stream* stream) { return {stream->shared_from_this(), stream->submitted}; }

bool IsDone(const Work& work) {
  return work.stream == nullptr || work.stream->completed >= work.number;
}

}  // namespace

Streams::Streams(int devices, const EventTiming& timing, const Listening* listening)
    : listening_(listening), timing_(timing), defers_(timing.mode != EventMode::kEager) {
  for (int device = 0; device < devices; ++device) {
    default_streams_.push_back(std::make_shared<Stream>());
    default_streams_.back()->device = device;
  }
}

Streams::~Streams() {
  for (Event* event : events_) delete event;
}

EventTiming Streams::Timing() const {
  const MutexLock lock(mutex_);
  return timing_;
}

void Streams::SetTiming(const EventTiming& timing) {
  const MutexLock lock(mutex_);
  timing_ = timing;
  defers_ = timing.mode != EventMode::kEager;
}

WaitCounts Streams::Waits() const {
  const MutexLock lock(mutex_);
  return waits_;
}

Stream* Streams::FindStream(const void* handle, int device) const {
  if (IsDefaultStream(handle)) return default_streams_[static_cast<std::size_t>(device)].get();
  // The table is asked with the address only; it is not followed unless it is found.
  const auto found = streams_.find(static_cast<Stream*>(const_cast<void*>(handle)));
  return found == streams_.end() ? nullptr : found->first;
}

Stream* Streams::CreateStream(int device, unsigned flags, int priority) {
  const MutexLock lock(mutex_);
  auto stream = std::make_shared<Stream>();
  stream->id = next_stream_id_++;
  stream->device = device;
  stream->flags = flags;
  stream->priority = std::clamp(priority, kHighestPriority, kLowestPriority);
  Stream* handle = stream.get();
  if ((flags & kNonBlockingStream) == 0) blocking_.push_back(handle);
  streams_.emplace(handle, std::move(stream));
  return handle;
}

Result Streams::DestroyStream(const void* handle) {
  const MutexLock lock(mutex_);
  Stream* stream = IsDefaultStream(handle) ? nullptr : FindStream(handle, 0);
  if (stream == nullptr) return Result::kInvalidHandle;
  if (stream->capture != nullptr && stream->capture->origin == stream) {
    Abandon(stream->capture);
  } else if (stream->capture != nullptr) {
    // The order of the work is known; the capture can only no longer be joined.
    stream->capture->invalidated = true;
    stream->capture->streams.erase(stream);
  }
  std::erase(blocking_, stream);
  destroyed_.push_back(stream->shared_from_this());
  streams_.erase(stream);
  ForgetFinished();
  return Result::kSuccess;
}

void Streams::ForgetFinished() {
  std::erase_if(destroyed_, [](const StreamPointer& s) { return s->completed >= s->submitted; });
}

Result Streams::Describe(const void* handle, int device, Stream* copy) const {
  const MutexLock lock(mutex_);
  const Stream* stream = FindStream(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  *copy = *stream;
  return Result::kSuccess;
}

// Gives the stream's next work its number and time.
void Streams::Place(Stream* stream) {
  ++stream->submitted;
  tick_.fetch_add(1, std::memory_order_relaxed);
  stream->questions = 0;
  stream->nanoseconds =
      std::max(stream->nanoseconds, host_nanoseconds_) + kMemtraceCardWorkNanoseconds;
}

// The stream goes on when that work of another is done.
void Streams::Await(Stream* stream, const Work& work, Lock& lock) {
  if (work.stream.get() == stream || IsDone(work)) return;
  ++stream->submitted;
  completion_.AddWait(*stream, work);
  if (completion_.MilestonesOf(*stream) < kMostMilestones) return;
  // A card's queue is finite, too: the host waits for room.
  ++waits_.early;
  WaitFor(LastOf(stream), lock);
}

// Streams wait for the default stream's work and it for theirs, unless they were created as
// non-blocking (the programming guide's "implicit synchronization").
void Streams::Join(Stream* stream, Lock& lock) {
  if (stream->id != 0) {
    if ((stream->flags & kNonBlockingStream) != 0) return;
    return Await(stream, LastOf(default_streams_[static_cast<std::size_t>(stream->device)].get()),
                 lock);
  }
  if (blocking_.empty()) return;
  // Collected first: while it waits for room, streams may come and go.
  std::vector<Work> others;
  for (Stream* other : blocking_) {
    if (other->device == stream->device) others.push_back(LastOf(other));
  }
  for (const Work& work : others) Await(stream, work, lock);
}

Result Streams::Enter(Stream* stream, Work* named, Lock& lock) {
  if (stream == nullptr) return Result::kInvalidHandle;
  if (stream->capture != nullptr) return AddNode(stream, NodeType::kKernel, nullptr);
  const Result allowed = RefuseImplicitDependency(*stream);
  if (allowed != Result::kSuccess) return allowed;
  Join(stream, lock);
  Place(stream);
  thread_questions = 0;
  if (named != nullptr) {
    *named = LastOf(stream);
  } else {
    stream->last_launch = Now();
    stream->last_launched = stream->submitted;
  }
  return Result::kSuccess;
}

Result Streams::Submit(const void* handle, int device, Work* named) {
  Lock lock(mutex_);
  return Enter(FindStream(handle, device), named, lock);
}

void Streams::Tell(const Stream& stream, const LaunchedKernel& kernel) const {
  if (listening_ == nullptr || !listening_->IsOn()) return;
  memtrace_card_event event = EventOf(MEMTRACE_CARD_KERNEL, stream.device, stream.id);
  event.name = kernel.name;
  event.launch = kernel.shape;
  event.is_async = true;
  listening_->Tell(event);
}

Result Streams::Launch(const void* handle, int device, const LaunchedKernel& kernel) {
  StreamPointer entered;
  {
    Lock lock(mutex_);
    Stream* stream = FindStream(handle, device);
    if (stream != nullptr && stream->capture != nullptr) {
      return AddNode(stream, NodeType::kKernel, [this, kernel](const Work& launch) {
        Tell(*launch.stream, kernel);
        return Result::kSuccess;
      });
    }
    const Result result = Enter(stream, nullptr, lock);
    if (result != Result::kSuccess) return result;
    if (listening_ != nullptr && listening_->IsOn()) entered = stream->shared_from_this();
  }
  if (entered != nullptr) Tell(*entered, kernel);
  return Result::kSuccess;
}

Result Streams::Perform(const void* handle, int device, NodeType type, HostWork work, Work* done) {
  Work placed;
  {
    Lock lock(mutex_);
    Stream* stream = FindStream(handle, device);
    if (stream != nullptr && stream->capture != nullptr)
      return AddNode(stream, type, std::move(work));
    // A graph's kernels touch memory that nobody names.
    const bool named = type != NodeType::kGraph;
    const Result entered = Enter(stream, named ? &placed : nullptr, lock);
    if (entered != Result::kSuccess) return entered;
    if (!named) placed = LastOf(stream);
  }
  if (done != nullptr) *done = placed;
  return work(placed);
}

Result Streams::SubmitCall(const void* handle, int device, std::function<void()> call) {
  Lock lock(mutex_);
  Work work;
  Stream* stream = FindStream(handle, device);
  if (stream != nullptr && stream->capture != nullptr) {
    return AddNode(stream, NodeType::kHost, [this, call = std::move(call)](const Work& launch) {
      return SubmitCallAt(launch, call);
    });
  }
  const Result result = Enter(stream, &work, lock);
  if (result == Result::kSuccess) CallLast(*work.stream, std::move(call), lock);
  return result;
}

Result Streams::SubmitCallAt(const Work& launch, std::function<void()> call) {
  Lock lock(mutex_);
  ++launch.stream->submitted;
  CallLast(*launch.stream, std::move(call), lock);
  return Result::kSuccess;
}

// Makes the last work of the stream a call.
void Streams::CallLast(const Stream& stream, std::function<void()> call, Lock& lock) {
  if (Defers()) return completion_.AddCall(stream, std::move(call));
  lock.unlock();
  call();
}

Result Streams::LastWork(const void* handle, int device, Work* work) const {
  const MutexLock lock(mutex_);
  Stream* stream = FindStream(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  *work = LastOf(stream);
  return Result::kSuccess;
}

// Asking a capturing stream about its progress has no answer; it ends the capture.
Result Streams::RefuseWhileCapturing(const Stream* stream) {
  if (stream->capture == nullptr) return Result::kSuccess;
  stream->capture->invalidated = true;
  return Result::kCaptureUnsupported;
}

Result Streams::WaitFor(const Work& work, Lock& lock) {
  if (work.stream == nullptr) return Result::kSuccess;
  if (!IsDone(work)) ++waits_.waits;
  const Result result = completion_.Complete(work, lock);
  if (result != Result::kSuccess) return result;
  work.stream->last_wait = tick_.fetch_add(1, std::memory_order_relaxed) + 1;
  return result;
}

// What the host is told when it asks whether that work is done.
Result Streams::Answer(const Work& work, std::uint64_t* questions, Lock& lock) {
  if (IsDone(work)) {
    thread_questions = 0;
    return Result::kSuccess;
  }
  if (timing_.mode == EventMode::kEager) {
    ++waits_.early;
    return Result::kSuccess;
  }
  const bool has_asked_enough = timing_.mode == EventMode::kDelayed
                                    ? *questions >= timing_.questions
                                    : ++thread_questions > kPatience;
  if (!has_asked_enough) {
    ++*questions;
    ++waits_.not_ready;
    return Result::kNotReady;
  }
  if (timing_.mode == EventMode::kLazy) ++waits_.patience;
  thread_questions = 0;
  return WaitFor(work, lock);
}

Result Streams::FindToAsk(const void* handle, int device, Lock& lock, Stream** stream) {
  *stream = FindStream(handle, device);
  if (*stream == nullptr) return Result::kInvalidHandle;
  const Result allowed = RefuseWhileCapturing(*stream);
  if (allowed == Result::kSuccess) Join(*stream, lock);
  return allowed;
}

Result Streams::Query(const void* handle, int device) {
  Lock lock(mutex_);
  Stream* stream = nullptr;
  const Result found = FindToAsk(handle, device, lock, &stream);
  return found == Result::kSuccess ? Answer(LastOf(stream), &stream->questions, lock) : found;
}

Result Streams::Synchronize(const void* handle, int device) {
  Lock lock(mutex_);
  Stream* stream = nullptr;
  const Result found = FindToAsk(handle, device, lock, &stream);
  if (found != Result::kSuccess) return found;
  host_nanoseconds_ = std::max(host_nanoseconds_, stream->nanoseconds);
  return WaitFor(LastOf(stream), lock);
}

Result Streams::SynchronizeDevice(int device) {
  const Result allowed = CheckUnsafeCall();
  if (allowed != Result::kSuccess) return allowed;
  Lock lock(mutex_);
  std::vector<Work> all = {LastOf(FindStream(nullptr, device))};
  for (const auto& [stream, owner] : streams_) {
    if (stream->device == device) all.push_back(LastOf(stream));
  }
  for (const StreamPointer& stream : destroyed_) {
    if (stream->device == device) all.push_back(LastOf(stream.get()));
  }
  Result result = Result::kSuccess;
  for (const Work& work : all) {
    host_nanoseconds_ = std::max(host_nanoseconds_, work.stream->nanoseconds);
    if (result == Result::kSuccess) result = WaitFor(work, lock);
  }
  ForgetFinished();
  return result;
}

Result Streams::SynchronizeWork(const Work& work) {
  Lock lock(mutex_);
  if (work.stream == nullptr) return Result::kSuccess;
  host_nanoseconds_ = std::max(host_nanoseconds_, work.stream->nanoseconds);
  return WaitFor(work, lock);
}

bool Streams::IsFinished(const Work& work) const {
  if (!Defers()) return true;
  const MutexLock lock(mutex_);
  return IsDone(work);
}

std::optional<Work> Streams::UnawaitedLaunch(int device, Tick since) const {
  if (!Defers()) return std::nullopt;
  const MutexLock lock(mutex_);
  std::optional<Work> found;
  bool has_waited = false;
  const auto look = [&](Stream* stream) {
    if (stream->device != device) return;
    const Work launch{stream->shared_from_this(), stream->last_launched};
    if (stream->last_launch > since && !IsDone(launch)) found = launch;
    if (stream->last_wait > since && IsDone(LastOf(stream))) has_waited = true;
  };
  for (const StreamPointer& stream : default_streams_) look(stream.get());
  for (const auto& [stream, owner] : streams_) look(stream);
  for (const StreamPointer& stream : destroyed_) look(stream.get());
  return has_waited ? std::nullopt : found;
}

std::size_t Streams::LiveStreams() const {
  const MutexLock lock(mutex_);
  return streams_.size();
}

}  // namespace memtrace::card
