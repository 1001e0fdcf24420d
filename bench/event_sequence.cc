// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/event_sequence.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "allocator/blocks/size_policy.h"
#include "profiler/trace/reading/trace_reader.h"
#include "profiler/trace/text/text_trace.h"

namespace memtrace {
namespace {

class Builder {
 public:
  explicit Builder(int device) : device_(device) {}

  void Add(const trace::Allocate& allocate) {
    if (allocate.device != device_ || allocate.requested == 0) return;
    const uint32_t stream =
        streams_.try_emplace(allocate.stream, static_cast<uint32_t>(streams_.size())).first->second;
    alive_[allocate.address] = sequence_.blocks;
    sequence_.events.push_back({allocate.requested, sequence_.blocks++, stream});
  }

  void Add(const trace::FreeCompleted& free) {
    const auto block = free.device == device_ ? alive_.find(free.address) : alive_.end();
    if (block == alive_.end()) return;
    sequence_.events.push_back({.block = block->second});
    alive_.erase(block);
  }

  // Ignores events that change nothing here.
  template <
      trace::OneOf<trace::FreeRequested, trace::Reserve, trace::Map, trace::Unmap, trace::Relabel,
                   trace::Step, trace::PhaseChange, trace::TagChange, trace::Annotate,
                   trace::OutOfMemory, trace::CardSample, trace::Lost, trace::OutsideAllocate,
                   trace::OutsideFree, trace::Resume, trace::Alive, trace::Activity, trace::Moved>
          Ignored>
  void Add(const Ignored&) {}

  EventSequence Finish() {
    sequence_.streams = static_cast<uint32_t>(streams_.size());
    return std::move(sequence_);
  }

 private:
  const int device_;
  EventSequence sequence_;
  absl::flat_hash_map<uint64_t, uint32_t> alive_;    // address -> block
  absl::flat_hash_map<uint64_t, uint32_t> streams_;  // handle -> number
};

absl::StatusOr<trace::TraceReader> OpenText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string binary = "/tmp/memtrace-events-XXXXXX";
  const int descriptor = mkstemp(binary.data());
  if (descriptor < 0) return absl::InternalError("no temporary file can be made in /tmp");
  std::fclose(fdopen(descriptor, "w"));
  absl::Status written = trace::WriteTextTrace(text, binary);
  auto reader = written.ok() ? trace::TraceReader::Open(binary)
                             : absl::StatusOr<trace::TraceReader>(std::move(written));
  std::remove(binary.c_str());
  return reader;
}

}  // namespace

Bytes EventSequence::LivePeak() const {
  std::vector<Bytes> sizes(blocks);
  Bytes live = 0;
  Bytes peak = 0;
  for (const Event& event : events) {
    if (event.requested == 0) {
      live -= sizes[event.block];
    } else {
      live += sizes[event.block] = RoundedSize(event.requested);
      peak = std::max(peak, live);
    }
  }
  return peak;
}

absl::StatusOr<EventSequence> ReadEventSequence(const std::string& path, int device) {
  const auto reader = path.ends_with(".txt") ? OpenText(path) : trace::TraceReader::Open(path);
  if (!reader.ok()) return reader.status();
  Builder builder(device);
  reader->ForEach([&](const trace::Event& event) {
    std::visit([&](const auto& payload) { builder.Add(payload); }, event.payload);
  });
  return builder.Finish();
}

}  // namespace memtrace
