// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/cupti/activity_buffers.h"

#include <cstring>

#include "base/mutex.h"

namespace memtrace::card {

bool ActivityBuffers::Buffer::HasRoom(std::size_t bytes) const {
  return begin != nullptr && size - used >= bytes && (most_records == 0 || records < most_records);
}

void ActivityBuffers::Register(CUpti_BuffersCallbackRequestFunc request,
                               CUpti_BuffersCallbackCompleteFunc complete) {
  const MutexLock lock(mutex_);
  request_ = request;
  complete_ = complete;
}

bool ActivityBuffers::AreRegistered() const {
  const MutexLock lock(mutex_);
  return request_ != nullptr;
}

// Writes into the buffer that is being filled; returns false if there is no room, and takes that
// buffer out.
bool ActivityBuffers::Put(const void* record, std::size_t bytes, Buffer* full) {
  const MutexLock lock(mutex_);
  if (open_.empty()) return false;
  Buffer& last = open_.back();
  if (!last.HasRoom(bytes)) {
    *full = last;
    open_.pop_back();
    return false;
  }
  std::memcpy(last.begin + last.used, record, bytes);
  last.used += bytes;
  ++last.records;
  return true;
}

bool ActivityBuffers::Request(std::size_t bytes) {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  {
    const MutexLock lock(mutex_);
    request = request_;
  }
  if (request == nullptr) return false;
  Buffer fresh;
  request(&fresh.begin, &fresh.size, &fresh.most_records);
  if (!fresh.HasRoom(bytes)) {
    if (fresh.begin != nullptr) Complete(fresh);
    return false;
  }
  const MutexLock lock(mutex_);
  open_.push_back(fresh);
  return true;
}

void ActivityBuffers::Complete(const Buffer& buffer) const {
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  {
    const MutexLock lock(mutex_);
    complete = complete_;
  }
  // According to cupti_activity.h, context and stream are not used since CUDA 6.0.
  if (complete != nullptr) complete(nullptr, 0, buffer.begin, buffer.size, buffer.used);
}

void ActivityBuffers::Append(const void* record, std::size_t bytes) {
  for (;;) {
    Buffer full;
    if (Put(record, bytes, &full)) return;
    if (full.begin != nullptr) {
      Complete(full);
    } else if (!Request(bytes)) {
      const MutexLock lock(mutex_);
      ++dropped_;
      return;
    }
  }
}

void ActivityBuffers::Flush() {
  std::vector<Buffer> all;
  {
    const MutexLock lock(mutex_);
    all.swap(open_);
  }
  for (const Buffer& buffer : all) Complete(buffer);
}

std::size_t ActivityBuffers::TakeDropped() {
  const MutexLock lock(mutex_);
  const std::size_t dropped = dropped_;
  dropped_ = 0;
  return dropped;
}

}  // namespace memtrace::card
