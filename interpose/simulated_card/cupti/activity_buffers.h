// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_BUFFERS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/cupti/cupti_header.h"

namespace memtrace::card {

// The client's buffers for activity records: one is asked for when a record has no room, and goes
// back when it is full or flushed. The client is called without our lock, as it may call us.
// Safe from any thread.
class ActivityBuffers {
 public:
  ActivityBuffers() = default;
  ActivityBuffers(const ActivityBuffers&) = delete;
  ActivityBuffers& operator=(const ActivityBuffers&) = delete;

  void Register(CUpti_BuffersCallbackRequestFunc request,
                CUpti_BuffersCallbackCompleteFunc complete);
  bool AreRegistered() const;

  // A record without room, as the client gives no buffer or one that is too small, is dropped.
  void Append(const void* record, std::size_t bytes);
  // Every buffer that holds records goes back.
  void Flush();
  // Dropped since the last question.
  std::size_t TakeDropped();

 private:
  struct Buffer {
    std::uint8_t* begin = nullptr;
    std::size_t size = 0;
    std::size_t most_records = 0;  // 0: what fits
    std::size_t used = 0;
    std::size_t records = 0;

    bool HasRoom(std::size_t bytes) const;
  };

  bool Put(const void* record, std::size_t bytes, Buffer* full);
  bool Request(std::size_t bytes);
  void Complete(const Buffer& buffer) const;

  mutable Mutex mutex_;
  CUpti_BuffersCallbackRequestFunc request_ ABSL_GUARDED_BY(mutex_) = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // The last is filled first. There are more if threads asked at once.
  std::vector<Buffer> open_ ABSL_GUARDED_BY(mutex_);
  std::size_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_BUFFERS_H_
