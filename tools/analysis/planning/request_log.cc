// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/planning/request_log.h"

#include <algorithm>

#include "allocator/blocks/size_policy.h"
#include "tools/analysis/replayed/block_lives.h"

namespace memtrace::analysis {
namespace {

class Reader {
 public:
  Reader(RequestLog& log, bool is_ours) : log_(log), is_ours_(is_ours) {}

  void Apply(const trace::Payload& payload) {
    lives_.Apply(payload, [this](const auto& happened) { Apply(happened); });
  }

 private:
  // Empty for a small block, one of a private pool, or one that lived before recording began.
  using Lives = BlockLives<std::optional<RequestLog::Place>>;

  void Apply(const Lives::Born& born) {
    const trace::Allocate& event = born.allocation;
    if (event.pool == 0) born.block = log_.Allocate(event.device, event.stream, SizeOf(event));
  }
  void Apply(const Lives::Ended& ended) {
    if (ended.block) log_.Free(*ended.block);
  }
  void Apply(const trace::OutOfMemory& event) {
    log_.Fail(event.device, event.stream, SizeOf(event));
  }
  void Apply(const trace::Map& event) { log_.Map(event.device, static_cast<int64_t>(event.size)); }
  void Apply(const trace::Unmap& event) {
    log_.Map(event.device, static_cast<int64_t>(0 - event.size));
  }
  // Ignores events that change nothing here.
  template <trace::OneOf<Lives::Found, Lives::LetGo, Lives::Stray, trace::Reserve, trace::Relabel,
                         trace::Step, trace::PhaseChange, trace::TagChange, trace::Annotate,
                         trace::CardSample, trace::Lost, trace::OutsideAllocate, trace::OutsideFree,
                         trace::Resume, trace::Activity, trace::Moved>
                Ignored>
  void Apply(const Ignored&) {}

  template <typename Request>
  Bytes SizeOf(const Request& request) const {
    return is_ours_ ? request.allocated : RoundedSize(request.requested);
  }

  RequestLog& log_;
  const bool is_ours_;
  Lives lives_;
};

}  // namespace

RequestLog RequestLog::Of(const EventSource& source, bool is_ours) {
  RequestLog log;
  Reader reader(log, is_ours);
  source.ForEach([&](const trace::Event& event) { reader.Apply(event.payload); });
  return log;
}

StreamRequests& RequestLog::StreamOf(int32_t device, uint64_t stream) {
  const auto found =
      std::find_if(streams_.begin(), streams_.end(), [&](const StreamRequests& requests) {
        return requests.device == device && requests.handle == stream;
      });
  if (found != streams_.end()) return *found;
  return streams_.emplace_back(StreamRequests{device, stream, {}});
}

std::optional<RequestLog::Place> RequestLog::Allocate(int32_t device, uint64_t stream, Bytes size) {
  requested_ += size;
  if (IsSmall(size)) return std::nullopt;
  StreamRequests& requests = StreamOf(device, stream);
  // A failure that the program got over has no place.
  if (const auto failed = failed_.find(device); failed != failed_.end()) {
    std::vector<RequestedBlock>& blocks = streams_[failed->second].blocks;
    requested_ -= blocks.back().size;
    blocks.pop_back();
    failed_.erase(failed);
  }
  requests.blocks.push_back({size});
  return Place{static_cast<size_t>(&requests - streams_.data()), requests.blocks.size() - 1};
}

void RequestLog::Free(const Place& place) {
  std::vector<RequestedBlock>& blocks = streams_[place.stream].blocks;
  blocks[place.block].death = blocks.size();
}

void RequestLog::Map(int32_t device, int64_t bytes) {
  const int64_t mapped = mapped_[device] += bytes;
  Bytes& most = reserved_[device];
  most = std::max(most, static_cast<Bytes>(std::max<int64_t>(mapped, 0)));
}

void RequestLog::Fail(int32_t device, uint64_t stream, Bytes size) {
  if (IsSmall(size) || failed_.contains(device)) return;
  StreamRequests& requests = StreamOf(device, stream);
  failed_[device] = static_cast<size_t>(&requests - streams_.data());
  requests.blocks.push_back({size});
  requested_ += size;
}

}  // namespace memtrace::analysis
