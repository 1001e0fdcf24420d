// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// bench/replay_torch.py loads this library next to torch. It replays an event sequence with the
// allocator that torch uses (its own, real code, or ours), through torch's C++ interface. Not for
// the recorder's cost, which bench/torch_pair.py measures.
#include <c10/core/Device.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "bench/event_sequence.h"

namespace {

namespace torch_allocator = c10::cuda::CUDACachingAllocator;

// Uses one allocator object for all calls, as torch's own hot path does.
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

  // Plays up to `most` more events; returns how many have been served in total.
  size_t Run(size_t most) {
    const size_t last = std::min(served_ + most, sequence_.events.size());
    try {
      for (; served_ < last; ++served_) Play(sequence_.events[served_]);
    } catch (const c10::OutOfMemoryError&) {
      return served_;
    }
    return served_;
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
  size_t served_ = 0;
};

std::unique_ptr<memtrace::EventSequence> sequence;
std::unique_ptr<Replay> replay;

}  // namespace

extern "C" {

// Reads a trace (event_sequence.h). Returns 0 if it cannot be read, otherwise its lower bound in
// bytes.
__attribute__((visibility("default"))) uint64_t torch_replay_read(const char* path, int device) {
  auto read = memtrace::ReadEventSequence(path, device);
  if (!read.ok()) return 0;
  sequence = std::make_unique<memtrace::EventSequence>(*std::move(read));
  return sequence->LivePeak();
}

__attribute__((visibility("default"))) uint64_t torch_replay_events() {
  return sequence->events.size();
}

// Plays up to `most` more events of the sequence read last. Returns how many have been served in
// total, and how long these took. If fewer were served than requested, the next one failed, or
// there are no more.
__attribute__((visibility("default"))) uint64_t torch_replay_run(uint64_t most, double* seconds) {
  if (replay == nullptr) replay = std::make_unique<Replay>(*sequence);
  const auto start = std::chrono::steady_clock::now();
  const size_t served = replay->Run(most);
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return served;
}

// Frees the remaining blocks; does not empty the cache.
__attribute__((visibility("default"))) void torch_replay_end() { replay.reset(); }

}  // extern "C"
