// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Loaded by bench/replay_torch.py beside torch: puts an event sequence to whatever allocator torch
// has in place (its own, real code, or ours), through torch's C++ interface. Not for the recorder's
// cost: bench/torch_pair.py has that.
#include <c10/core/Device.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

#include <chrono>
#include <memory>
#include <vector>

#include "bench/event_sequence.h"

namespace {

namespace torch_allocator = c10::cuda::CUDACachingAllocator;

// One allocator object for all calls, as torch's own hot path has it.
class Replay {
 public:
  explicit Replay(const memtrace::EventSequence& sequence)
      : sequence_(sequence), blocks_(sequence.blocks) {
    streams_.push_back(c10::cuda::getDefaultCUDAStream());
    while (streams_.size() < sequence.streams) {
      streams_.push_back(c10::cuda::getStreamFromPool());
    }
  }
  ~Replay() {
    for (void* block : blocks_) Free(block);
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // The events that were served.
  size_t Run() {
    size_t served = 0;
    try {
      for (const auto& event : sequence_.events) {
        Play(event);
        ++served;
      }
    } catch (const c10::OutOfMemoryError&) {
      return served;
    }
    return served;
  }

 private:
  void Play(const memtrace::EventSequence::Event& event) {
    void*& block = blocks_[event.block];
    if (event.requested == 0) {
      Free(std::exchange(block, nullptr));
    } else {
      block = torch_allocator::raw_alloc_with_stream(event.requested, streams_[event.stream]);
    }
  }
  void Free(void* block) {
    if (block != nullptr) torch_allocator::raw_delete(block);
  }

  const memtrace::EventSequence& sequence_;
  std::vector<void*> blocks_;
  std::vector<c10::cuda::CUDAStream> streams_;
};

std::unique_ptr<memtrace::EventSequence> sequence;

}  // namespace

extern "C" {

// Reads a trace (event_sequence.h); 0 if it cannot be read, else its lower bound in bytes.
__attribute__((visibility("default"))) uint64_t torch_replay_read(const char* path, int device) {
  auto read = memtrace::ReadEventSequence(path, device);
  if (!read.ok()) return 0;
  sequence = std::make_unique<memtrace::EventSequence>(*std::move(read));
  return sequence->LivePeak();
}

__attribute__((visibility("default"))) uint64_t torch_replay_events() {
  return sequence->events.size();
}

// Plays what was read last; says how many events were served and how long that took. What is left
// alive is freed, the cache is not emptied.
__attribute__((visibility("default"))) uint64_t torch_replay_run(double* seconds) {
  Replay replay(*sequence);
  const auto start = std::chrono::steady_clock::now();
  const size_t served = replay.Run();
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return served;
}

}  // extern "C"
