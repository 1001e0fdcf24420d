// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/streams.h"

#include <utility>
#include <vector>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

// The progress of a capturing stream is undefined, and asking for it invalidates the capture.
Result RefuseWhileCapturing(const Stream* stream) {
  if (stream->capture == nullptr) return Result::kSuccess;
  stream->capture->invalidated = true;
  return Result::kCaptureUnsupported;
}

}  // namespace

Result Streams::Destroy(const void* handle) {
  const MutexLock lock(progress_.mutex());
  Stream* stream = StreamTable::IsDefault(handle) ? nullptr : table_.Find(handle, 0);
  if (stream == nullptr) return Result::kInvalidHandle;
  captures_.Leave(stream);
  table_.Destroy(stream);
  return Result::kSuccess;
}

Result Streams::Enter(Stream* stream, Work* named, Progress::Lock& lock) {
  if (stream == nullptr) return Result::kInvalidHandle;
  if (stream->capture != nullptr) return captures_.AddNode(stream, NodeType::kKernel, nullptr);
  const Result allowed = captures_.RefuseImplicitDependency(*stream);
  if (allowed != Result::kSuccess) return allowed;
  table_.Join(stream, lock);
  progress_.Place(stream);
  if (named != nullptr) {
    *named = LastOf(stream);
  } else {
    stream->last_launch = progress_.Now();
    stream->last_launched = stream->submitted;
  }
  return Result::kSuccess;
}

Result Streams::Submit(const void* handle, int device, Work* named) {
  Progress::Lock lock(progress_.mutex());
  return Enter(table_.Find(handle, device), named, lock);
}

void Streams::Notify(const Stream& stream, const LaunchedKernel& kernel) const {
  if (listening_ == nullptr || !listening_->IsOn()) return;
  memtrace_card_event event = EventOf(MEMTRACE_CARD_KERNEL, stream.device, stream.id);
  event.name = kernel.name;
  event.launch = kernel.shape;
  event.is_async = true;
  listening_->Notify(event);
}

void Streams::LookAtMemory(const LaunchedKernel& kernel, bool is_in_graph) const {
  if (kernel.given != nullptr && memory_ != nullptr)
    memory_->Launched(kernel.name, *kernel.given, is_in_graph);
}

Result Streams::Launch(const void* handle, int device, const LaunchedKernel& kernel) {
  StreamPointer entered;
  {
    Progress::Lock lock(progress_.mutex());
    Stream* stream = table_.Find(handle, device);
    if (stream != nullptr && stream->capture != nullptr) {
      return captures_.AddNode(stream, NodeType::kKernel, [this, kernel](const Work& launch) {
        Notify(*launch.stream, kernel);
        LookAtMemory(kernel, /*is_in_graph=*/true);
        return Result::kSuccess;
      });
    }
    const Result result = Enter(stream, nullptr, lock);
    if (result != Result::kSuccess) return result;
    if (listening_ != nullptr && listening_->IsOn()) entered = stream->shared_from_this();
  }
  if (entered != nullptr) Notify(*entered, kernel);
  LookAtMemory(kernel, /*is_in_graph=*/false);
  return Result::kSuccess;
}

Result Streams::Perform(const void* handle, int device, NodeType type, HostWork work, Work* done) {
  Work placed;
  {
    Progress::Lock lock(progress_.mutex());
    Stream* stream = table_.Find(handle, device);
    if (stream != nullptr && stream->capture != nullptr)
      return captures_.AddNode(stream, type, std::move(work));
    // A graph's kernels use memory that is not named.
    const bool named = type != NodeType::kGraph;
    const Result entered = Enter(stream, named ? &placed : nullptr, lock);
    if (entered != Result::kSuccess) return entered;
    if (!named) placed = LastOf(stream);
  }
  if (done != nullptr) *done = placed;
  return work(placed);
}

Result Streams::SubmitCall(const void* handle, int device, std::function<void()> call) {
  Progress::Lock lock(progress_.mutex());
  Work work;
  Stream* stream = table_.Find(handle, device);
  if (stream != nullptr && stream->capture != nullptr) {
    return captures_.AddNode(
        stream, NodeType::kHost,
        [this, call = std::move(call)](const Work& launch) { return SubmitCallAt(launch, call); });
  }
  const Result result = Enter(stream, &work, lock);
  if (result == Result::kSuccess) progress_.CallLast(*work.stream, std::move(call), lock);
  return result;
}

Result Streams::SubmitCallAt(const Work& launch, std::function<void()> call) {
  Progress::Lock lock(progress_.mutex());
  ++launch.stream->submitted;
  progress_.CallLast(*launch.stream, std::move(call), lock);
  return Result::kSuccess;
}

Result Streams::FindForQuery(const void* handle, int device, Progress::Lock& lock,
                             Stream** stream) {
  *stream = table_.Find(handle, device);
  if (*stream == nullptr) return Result::kInvalidHandle;
  const Result allowed = RefuseWhileCapturing(*stream);
  if (allowed == Result::kSuccess) table_.Join(*stream, lock);
  return allowed;
}

Result Streams::Query(const void* handle, int device) {
  Progress::Lock lock(progress_.mutex());
  Stream* stream = nullptr;
  const Result found = FindForQuery(handle, device, lock, &stream);
  if (found != Result::kSuccess) return found;
  return progress_.Answer(LastOf(stream), &stream->questions, lock);
}

Result Streams::Synchronize(const void* handle, int device) {
  Progress::Lock lock(progress_.mutex());
  Stream* stream = nullptr;
  const Result found = FindForQuery(handle, device, lock, &stream);
  if (found != Result::kSuccess) return found;
  progress_.AdvanceHostTo(stream->nanoseconds);
  return progress_.WaitFor(LastOf(stream), lock);
}

Result Streams::SynchronizeDevice(int device) {
  const Result allowed = captures_.CheckUnsafeCall();
  if (allowed != Result::kSuccess) return allowed;
  Progress::Lock lock(progress_.mutex());
  const std::vector<Work> all = table_.LastWorkOf(device);
  Result result = Result::kSuccess;
  for (const Work& work : all) {
    progress_.AdvanceHostTo(work.stream->nanoseconds);
    if (result == Result::kSuccess) result = progress_.WaitFor(work, lock);
  }
  table_.ForgetFinished();
  return result;
}

Result Streams::SynchronizeWork(const Work& work) {
  Progress::Lock lock(progress_.mutex());
  if (work.stream == nullptr) return Result::kSuccess;
  progress_.AdvanceHostTo(work.stream->nanoseconds);
  return progress_.WaitFor(work, lock);
}

}  // namespace memtrace::card
