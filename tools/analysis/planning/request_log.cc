// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/planning/request_log.h"

#include <algorithm>
#include <variant>

#include "allocator/blocks/size_policy.h"

namespace memtrace::analysis {
namespace {

class Reader {
 public:
  Reader(RequestLog& log, bool is_ours) : log_(log), is_ours_(is_ours) {}

  void operator()(const trace::Allocate& event) {
    if (event.pool != 0) return;
    log_.Allocate(event.device, event.stream, event.address, SizeOf(event));
  }
  void operator()(const trace::FreeCompleted& event) { log_.Free(event.device, event.address); }
  void operator()(const trace::OutOfMemory& event) {
    log_.Fail(event.device, event.stream, SizeOf(event));
  }
  void operator()(const trace::Map& event) {
    log_.Map(event.device, static_cast<int64_t>(event.size));
  }
  void operator()(const trace::Unmap& event) {
    log_.Map(event.device, -static_cast<int64_t>(event.size));
  }
  // Ignores events that change nothing here.
  template <trace::OneOf<trace::FreeRequested, trace::Reserve, trace::Relabel, trace::Step,
                         trace::PhaseChange, trace::TagChange, trace::Annotate, trace::CardSample,
                         trace::Lost, trace::OutsideAllocate, trace::OutsideFree, trace::Resume,
                         trace::Alive, trace::Activity>
                Ignored>
  void operator()(const Ignored&) {}

 private:
  template <typename Request>
  Bytes SizeOf(const Request& request) const {
    return is_ours_ ? request.allocated : RoundedSize(request.requested);
  }

  RequestLog& log_;
  const bool is_ours_;
};

}  // namespace

RequestLog RequestLog::Of(const EventSource& source, bool is_ours) {
  RequestLog log;
  Reader reader(log, is_ours);
  source.ForEach([&](const trace::Event& event) { std::visit(reader, event.payload); });
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

void RequestLog::Allocate(int32_t device, uint64_t stream, uint64_t address, Bytes size) {
  requested_ += size;
  if (IsSmall(size)) return;
  StreamRequests& requests = StreamOf(device, stream);
  // A failure that the program got over has no place.
  if (const auto failed = failed_.find(device); failed != failed_.end()) {
    std::vector<RequestedBlock>& blocks = streams_[failed->second].blocks;
    requested_ -= blocks.back().size;
    blocks.pop_back();
    failed_.erase(failed);
  }
  alive_[{device, address}] = {static_cast<size_t>(&requests - streams_.data()),
                               requests.blocks.size()};
  requests.blocks.push_back({size});
}

void RequestLog::Free(int32_t device, uint64_t address) {
  const auto found = alive_.find({device, address});
  if (found == alive_.end()) return;
  auto& blocks = streams_[found->second.stream].blocks;
  blocks[found->second.block].death = blocks.size();
  alive_.erase(found);
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
