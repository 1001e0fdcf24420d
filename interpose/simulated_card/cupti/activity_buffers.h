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

// The client's buffers for activity records. One is requested when a record has no room, and
// returned when it is full or flushed. The client is called without our lock, because it may call
// us. Safe from any thread.
class ActivityBuffers {
 public:
  ActivityBuffers() = default;
  ActivityBuffers(const ActivityBuffers&) = delete;
  ActivityBuffers& operator=(const ActivityBuffers&) = delete;

  void Register(CUpti_BuffersCallbackRequestFunc request,
                CUpti_BuffersCallbackCompleteFunc complete);
  bool AreRegistered() const;

  // Appends a record, or drops it if the client gives no buffer or one that is too small.
  void Append(const void* record, std::size_t bytes);
  // Returns every buffer that holds records to the client.
  void Flush();
  // Returns the number of records dropped since the last call.
  std::size_t TakeDropped();

 private:
  struct Buffer {
    std::uint8_t* begin = nullptr;
    std::size_t size = 0;
    std::size_t most_records = 0;  // 0: as many as fit
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
  // The last one is filled first. There is more than one if threads requested buffers at the same
  // time.
  std::vector<Buffer> open_ ABSL_GUARDED_BY(mutex_);
  std::size_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ACTIVITY_BUFFERS_H_
