// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/stream_table.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/mutex.h"

namespace memtrace::card {

StreamTable::StreamTable(int devices, Progress& progress) : progress_(progress) {
  for (int device = 0; device < devices; ++device) {
    default_streams_.push_back(std::make_shared<Stream>());
    default_streams_.back()->device = device;
  }
}

bool StreamTable::IsDefault(const void* handle) {
  return reinterpret_cast<std::uintptr_t>(handle) <= 2;
}

Stream* StreamTable::Find(const void* handle, int device) const {
  if (IsDefault(handle)) return default_streams_[static_cast<std::size_t>(device)].get();
  // The address is only looked up; it is not dereferenced unless it is found.
  const auto found = streams_.find(static_cast<Stream*>(const_cast<void*>(handle)));
  return found == streams_.end() ? nullptr : found->first;
}

Stream* StreamTable::Create(int device, unsigned flags, int priority) {
  const MutexLock lock(progress_.mutex());
  auto stream = std::make_shared<Stream>();
  stream->id = next_id_++;
  stream->device = device;
  stream->flags = flags;
  stream->priority = std::clamp(priority, kHighestPriority, kLowestPriority);
  Stream* handle = stream.get();
  if ((flags & kNonBlockingStream) == 0) blocking_.push_back(handle);
  streams_.emplace(handle, std::move(stream));
  return handle;
}

void StreamTable::Destroy(Stream* stream) {
  std::erase(blocking_, stream);
  destroyed_.push_back(stream->shared_from_this());
  streams_.erase(stream);
  ForgetFinished();
}

void StreamTable::ForgetFinished() {
  std::erase_if(destroyed_, [](const StreamPointer& s) { return s->completed >= s->submitted; });
}

Result StreamTable::Describe(const void* handle, int device, Stream* copy) const {
  const MutexLock lock(progress_.mutex());
  const Stream* stream = Find(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  *copy = *stream;
  return Result::kSuccess;
}

Result StreamTable::LastWork(const void* handle, int device, Work* work) const {
  const MutexLock lock(progress_.mutex());
  Stream* stream = Find(handle, device);
  if (stream == nullptr) return Result::kInvalidHandle;
  *work = LastOf(stream);
  return Result::kSuccess;
}

void StreamTable::Join(Stream* stream, Progress::Lock& lock) {
  if (stream->id != 0) {
    if ((stream->flags & kNonBlockingStream) != 0) return;
    const StreamPointer& first = default_streams_[static_cast<std::size_t>(stream->device)];
    return progress_.Await(stream, LastOf(first.get()), lock);
  }
  if (blocking_.empty()) return;
  // The work is collected first, because streams may come and go during a wait for room.
  std::vector<Work> others;
  for (Stream* other : blocking_) {
    if (other->device == stream->device) others.push_back(LastOf(other));
  }
  for (const Work& work : others) progress_.Await(stream, work, lock);
}

std::vector<Work> StreamTable::LastWorkOf(int device) const {
  std::vector<Work> all = {LastOf(Find(nullptr, device))};
  for (const auto& [stream, owner] : streams_) {
    if (stream->device == device) all.push_back(LastOf(stream));
  }
  for (const StreamPointer& stream : destroyed_) {
    if (stream->device == device) all.push_back(LastOf(stream.get()));
  }
  return all;
}

std::optional<Work> StreamTable::UnawaitedLaunch(int device, Tick since) const {
  if (!progress_.Defers()) return std::nullopt;
  const MutexLock lock(progress_.mutex());
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

std::size_t StreamTable::Live() const {
  const MutexLock lock(progress_.mutex());
  return streams_.size();
}

}  // namespace memtrace::card
