// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/allocator/program/allocator_program.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "allocator/blocks/size_policy.h"
#include "allocator/card/memory_copies.h"
#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"
#include "tests/allocator/program/capture_order.h"

namespace memtrace::program {
namespace {

constexpr ContextId kContext{7};

class Observer final : public AllocationObserver {
 public:
  explicit Observer(bool observes_blocks) { SetObservesBlocks(observes_blocks); }
};

struct ProgramCard {
  explicit ProgramCard(const Way& way)
      : observer(way.is_observed),
        allocator({.plan = way.plan, .captures = &streams, .copies = &copies, .host_limit = 96_MiB},
                  vmm, streams, observer) {
    allocator.pools().SetCaptureReuse(way.reuses_in_captures);
  }

  CallFailures failures;
  MemoryStreams streams{&failures};
  MemoryContents contents;
  MemoryVmm vmm{{.capacity = 128_MiB, .contents = &contents}, &streams, &failures};
  MemoryCopies copies{vmm, contents, 1_GiB, &failures};
  Observer observer;
  CachingAllocator allocator;
};

// Runs a program and compares the result of each step with the model: which blocks are in use, and
// which work on which addresses is unfinished.
class Machine {
 public:
  explicit Machine(const Way& way) : check_every_(way.check_every), card_(way) {}

  // Returns the first problem, if there is one.
  std::optional<std::string> Run(const Program& program) {
    for (size_t i = 0; i < program.size() && !problem_.has_value(); ++i) {
      std::visit([this](const auto& instruction) { Perform(instruction); }, program[i]);
      if ((i + 1) % check_every_ == 0 || i + 1 == program.size()) CheckAll();
      if (problem_.has_value()) *problem_ += absl::StrCat(" (instruction ", i, ")");
    }
    return problem_;
  }

 private:
  static constexpr uint64_t kUnknown = ~uint64_t{0};

  struct InUse {
    Bytes bytes = 0;
    Bytes size = 0;
    StreamId stream{};
    uint64_t pool = 0;
    uint32_t owner = 0;
    uint64_t contents = kUnknown;  // of a movable block
    bool is_shared = false;
  };
  struct Unfinished {
    DeviceAddress begin, end;
    MemoryStreams::Work work;
  };

  void Perform(const Allocate& i) {
    const uint64_t failed = card_.failures.failed();
    const AllocationResult result = Request(i);
    if (asleep_.contains(i.owner)) {
      const auto* status = std::get_if<absl::Status>(&result);
      Expect(status != nullptr && absl::IsFailedPrecondition(*status), "served asleep");
      return;
    }
    if (const auto* address = std::get_if<DeviceAddress>(&result)) {
      Add(*address, i);
    } else if (const auto* oom = std::get_if<OutOfMemoryEvent>(&result)) {
      if (failed == card_.failures.failed()) CheckOutOfMemory(*oom, i);
    } else {
      Expect(failed != card_.failures.failed(), "a status although no call failed");
    }
  }

  void Perform(const Free& i) {
    if (in_use_.empty()) return;
    const auto block = At(i.index);
    if (!card_.allocator.Free(block->first).ok()) return;  // the driver failed: still in use
    Expect(!card_.allocator.Free(block->first).ok(), "freed twice");
    in_use_.erase(block);
  }

  void Perform(const Share& i) {
    if (in_use_.empty()) return;
    const auto block = At(i.index);
    if (asleep_.contains(block->second.owner)) return;  // a program must not touch it
    Use(block->first, block->second, i.stream);
    block->second.is_shared |= i.stream != block->second.stream;
    Expect(card_.allocator.RecordStream(block->first, i.stream).ok(), "record_stream failed");
  }

  void Perform(const Finish& i) { card_.streams.Finish(i.stream); }

  void Perform(const EmptyCache&) {
    const uint64_t failed = card_.failures.failed();
    const bool ok = card_.allocator.EmptyCache().ok();
    if (failed != card_.failures.failed()) return;
    Expect(ok, "EmptyCache failed");
    if (IsAnyCaptured()) return;
    Expect(card_.allocator.accounts().ledger().cached == 0, "whole chunks left after EmptyCache");
    Expect(card_.allocator.accounts().ledger().stream_wait == 0,
           "waiting blocks left after EmptyCache");
  }

  void Perform(const SetLimit& i) { card_.allocator.SetLimit(i.limit); }
  void Perform(const Fail& i) {
    card_.failures.FailNthOfAny(i.nth, i.repeat, absl::InternalError("injected"));
  }
  void Perform(const StopFailing&) { card_.failures.StopFailing(); }

  void Perform(const BeginCapture& i) {
    Graph& graph = graphs_[i.pool];
    if (graph.is_captured() || CapturedFrom(i.stream) != nullptr) return;
    card_.allocator.pools().Retain(IdOf(i.pool));
    ++graph.users;
    Expect(card_.allocator.pools()
               .BeginRouting(IdOf(i.pool), [&graph](StreamId s) { return graph.order.Has(s); })
               .ok(),
           "BeginRouting failed");
    card_.streams.BeginCapture(i.stream);
    graph.order.Begin(i.stream);
    graph.stream = i.stream;
  }

  void Perform(const JoinCapture& i) {
    Graph* graph = CapturedFrom(i.other);
    Graph* own = CapturedFrom(i.stream);
    if (i.stream == i.other || graph == nullptr || (own != nullptr && own != graph)) return;
    card_.streams.WaitInCapture(i.stream, i.other);
    graph->order.Join(i.stream, i.other);
  }

  void Perform(const EndCapture& i) {
    Graph& graph = graphs_[i.pool];
    if (!graph.is_captured()) return;
    for (const StreamId stream : graph.order.Streams()) card_.streams.EndCapture(stream);
    graph.order = {};
    Expect(card_.allocator.pools().EndRouting(IdOf(i.pool)).ok(), "EndRouting failed");
  }

  // Writes to all memory that was ever allocated in a capture, in use or not.
  void Perform(const Replay& i) {
    const Graph& graph = graphs_[i.pool];
    if (graph.is_captured() || CapturedFrom(graph.stream) != nullptr) return;
    for (const uint32_t owner : graph.owners) {
      if (asleep_.contains(owner)) return;
    }
    for (const auto& [address, bytes] : graph.written) {
      card_.vmm.NoteUse(address, bytes, card_.streams.Queue(graph.stream));
    }
  }

  void Perform(const ReleaseGraph& i) {
    Graph& graph = graphs_[i.pool];
    if (graph.is_captured()) return;
    const bool has_users = std::exchange(graph.users, graph.users > 0 ? graph.users - 1 : 0) > 0;
    Expect(card_.allocator.pools().Release(IdOf(i.pool)).ok() == has_users, "ReleasePool");
    if (graph.users == 0) graph = Graph{};
  }

  void Perform(const Checkpoint& i) {
    Graph& graph = graphs_[i.pool];
    if (graph.users == 0) return;
    auto checkpoint = card_.allocator.pools().Checkpoint(IdOf(i.pool));
    Expect(checkpoint.ok(), "CheckpointPool failed");
    if (!checkpoint.ok()) return;
    graph.checkpoint = *std::move(checkpoint);
    graph.in_use_then.clear();
    for (const auto& [address, block] : in_use_) {
      if (block.pool == i.pool) graph.in_use_then[address] = block;
    }
  }

  void Perform(const Restore& i) {
    Graph& graph = graphs_[i.pool];
    if (!graph.checkpoint.has_value()) return;
    const auto restored = card_.allocator.pools().Restore(*graph.checkpoint);
    if (!restored.ok()) {
      const bool is_shared = std::any_of(in_use_.begin(), in_use_.end(), [&](const auto& entry) {
        return entry.second.pool == i.pool && entry.second.is_shared;
      });
      Expect(is_shared || !asleep_.empty() || card_.allocator.accounts().ledger().stream_wait > 0,
             "RestorePool failed");
      return;
    }
    Expect(restored->allocated.size() == graph.in_use_then.size(), "restored another number");
    std::erase_if(in_use_, [&](const auto& entry) { return entry.second.pool == i.pool; });
    for (auto [address, block] : graph.in_use_then) {
      block.is_shared = false;
      block.contents = kUnknown;
      in_use_[address] = block;
    }
  }

  void Perform(const PutToSleep& i) {
    const uint64_t failed = card_.failures.failed();
    const bool was_asleep = asleep_.contains(i.owner);
    Sleep::Moved moved;
    const absl::Status status = card_.allocator.movement().sleep().PutToSleep(
        MovableOwner{i.owner}, i.is_kept ? Sleep::Keep::kHost : Sleep::Keep::kNothing, moved);
    const bool is_asleep = IsAsleep(i.owner);
    Expect(is_asleep || !was_asleep, "a sleep has woken it");
    if (is_asleep && !was_asleep) asleep_[i.owner] = i.is_kept;
    if (failed != card_.failures.failed()) return;
    const bool is_refused = was_asleep || IsAnyCaptured() || absl::IsNotFound(status) ||
                            (absl::IsResourceExhausted(status) && moved.needed > moved.available);
    Expect(status.ok() || is_refused || IsUnfinishedSleep(status, was_asleep), "sleep failed");
    Expect(!status.ok() || is_asleep, "not asleep");
  }

  // A sleep that goes on after a failed one succeeds.
  static bool IsUnfinishedSleep(const absl::Status& status, bool was_asleep) {
    return was_asleep && status.ok();
  }

  void Perform(const Wake& i) {
    const uint64_t failed = card_.failures.failed();
    Sleep::Moved moved;
    const absl::Status status =
        card_.allocator.movement().sleep().Wake(MovableOwner{i.owner}, moved);
    Expect(IsAsleep(i.owner) == (asleep_.contains(i.owner) && !status.ok()), "state after a wake");
    if (status.ok()) {
      CheckContents(i.owner, asleep_.at(i.owner));
      asleep_.erase(i.owner);
    } else if (failed == card_.failures.failed() && asleep_.contains(i.owner)) {
      Expect(absl::IsResourceExhausted(status) && moved.needed > moved.available, "wake failed");
    }
  }

  bool IsAsleep(uint32_t owner) {
    for (const Sleep::Owner& one : card_.allocator.movement().sleep().owners()) {
      if (one.owner == MovableOwner{owner}) return one.is_asleep;
    }
    return false;
  }

  void CheckContents(uint32_t owner, bool is_kept) {
    for (auto& [address, block] : in_use_) {
      if (block.owner != owner) continue;
      if (!is_kept) block.contents = MemoryContents::kZeros;
      if (block.contents == kUnknown) continue;
      for (const DeviceAddress at : {address, address + (block.bytes - 1)}) {
        Expect(card_.contents.At(at.value()) == block.contents, "other contents");
      }
    }
  }

  AllocationResult Request(const Allocate& i) {
    if (i.owner == 0) return card_.allocator.Allocate(i.bytes, i.stream, kContext);
    return card_.allocator.Allocate({.bytes = i.bytes,
                                     .stream = i.stream,
                                     .context = kContext,
                                     .is_not_free = true,
                                     .movable = MovableOwner{i.owner}});
  }

  void Add(DeviceAddress address, const Allocate& i) {
    const Bytes size = RoundedSize(i.bytes);
    const auto above = in_use_.lower_bound(address);
    Expect(above == in_use_.end() || above->first >= address + size, "overlaps the block above");
    if (above != in_use_.begin()) {
      const auto below = std::prev(above);
      Expect(below->first + below->second.size <= address, "overlaps the block below");
    }
    Expect(address.value() % kAllocationUnit == 0, "not aligned");
    // Stream order: only work on its own stream may still use memory that a stream gets.
    std::erase_if(unfinished_, [&](const auto& u) { return card_.streams.IsFinished(u.work); });
    for (const Unfinished& u : unfinished_) {
      Expect(u.work.stream == i.stream || u.end <= address || address + size <= u.begin,
             "another stream still uses it");
    }
    const Graph* graph = CapturedFrom(i.stream);
    Expect(graph == nullptr || graph->order.IsFree(i.stream, address, address + size),
           "another stream of the capture still uses it");
    InUse& block = in_use_[address] = {i.bytes, size, i.stream, PoolOf(i.stream), i.owner};
    if (i.owner != 0) {
      block.contents = ++last_contents_;
      card_.contents.Write(address.value(), i.bytes, block.contents);
    }
    Use(address, block, i.stream);
  }

  // Work queued on a captured stream runs when the graph is replayed. The program must keep blocks
  // of other pools that the graph uses.
  void Use(DeviceAddress address, const InUse& block, StreamId stream) {
    if (Graph* graph = CapturedFrom(stream)) {
      if (graph == &graphs_[block.pool]) graph->written.emplace_back(address, block.bytes);
      if (block.owner != 0) graph->owners.push_back(block.owner);
      card_.streams.Queue(stream);
      graph->order.Use(stream, address, address + block.bytes);
      return;
    }
    const MemoryStreams::Work work = card_.streams.Queue(stream);
    card_.vmm.NoteUse(address, block.bytes, work);
    unfinished_.push_back({address, address + block.bytes, work});
  }

  // The reported figures must be exact: this much, and not one unit more.
  void CheckOutOfMemory(const OutOfMemoryEvent& oom, const Allocate& i) {
    Expect(oom.obtainable < oom.allocated, "failed although obtainable");
    if (!IsAnyCaptured()) {
      Expect(oom.ledger.stream_wait == 0, "failed although frees were waiting");
      Expect(oom.ledger.cached == 0, "failed although whole chunks were cached");
    }
    const bool is_same_group = i.owner != 0 || IsSmall(oom.obtainable) == IsSmall(oom.allocated);
    if (oom.obtainable == 0 || !is_same_group) return;
    card_.failures.StopFailing();
    const auto more = Request({oom.obtainable + 1, i.stream, i.owner});
    const bool is_same_size = IsSmall(RoundedSize(oom.obtainable + 1)) == IsSmall(oom.allocated);
    Expect((i.owner == 0 && !is_same_size) || !std::holds_alternative<DeviceAddress>(more),
           "more than obtainable was to be had");
    if (const auto* address = std::get_if<DeviceAddress>(&more)) {
      Add(*address, {oom.obtainable + 1, i.stream, i.owner});
      return;
    }
    const auto most = Request({oom.obtainable, i.stream, i.owner});
    const auto* address = std::get_if<DeviceAddress>(&most);
    Expect(address != nullptr, "obtainable was not to be had");
    if (address != nullptr) Add(*address, {oom.obtainable, i.stream, i.owner});
  }

  void CheckAll() {
    card_.allocator.CheckInvariants();
    CompareSums();
  }

  void CompareSums() {
    Bytes requested = 0;
    Bytes allocated = 0;
    int64_t blocks = 0;
    for (const auto& [address, block] : in_use_) {
      if (asleep_.contains(block.owner)) continue;
      ++blocks;
      requested += block.bytes;
      allocated += block.size;
    }
    const AllocatorLedger ledger = card_.allocator.accounts().ledger();
    const Statistics statistics = card_.allocator.accounts().statistics();
    Expect(ledger.live_requested == requested, "live_requested");
    Expect(ledger.live_allocated == allocated, "live_allocated");
    Expect(statistics.allocation.all.current == blocks, "allocation");
    Expect(ledger.reserved <= card_.vmm.used(), "reserved more than the card gave");
    Expect(card_.vmm.faults().empty(), "fault");
  }

  struct Graph {
    uint64_t users = 0;
    bool is_captured() const { return !order.Streams().empty(); }

    CaptureOrder order;  // of the current capture
    StreamId stream{};   // the stream of the latest capture
    std::vector<std::pair<DeviceAddress, Bytes>> written;
    std::optional<PoolCheckpoint> checkpoint;
    std::vector<uint32_t> owners;  // of movable memory that it uses
    std::map<DeviceAddress, InUse> in_use_then;
  };

  static PoolId IdOf(uint64_t pool) { return {0, pool}; }

  Graph* CapturedFrom(StreamId stream) {
    for (auto& [pool, graph] : graphs_) {
      if (graph.order.Has(stream)) return &graph;
    }
    return nullptr;
  }

  uint64_t PoolOf(StreamId stream) const {
    for (const auto& [pool, graph] : graphs_) {
      if (graph.order.Has(stream)) return pool;
    }
    return 0;
  }

  bool IsAnyCaptured() const {
    return std::any_of(graphs_.begin(), graphs_.end(),
                       [](const auto& entry) { return entry.second.is_captured(); });
  }

  std::map<DeviceAddress, InUse>::iterator At(size_t index) {
    return std::next(in_use_.begin(), static_cast<std::ptrdiff_t>(index % in_use_.size()));
  }

  void Expect(bool is_true, const char* what) {
    if (!is_true && !problem_.has_value()) problem_ = what;
  }

  const size_t check_every_;
  ProgramCard card_;
  std::map<DeviceAddress, InUse> in_use_;
  std::vector<Unfinished> unfinished_;
  std::map<uint64_t, Graph> graphs_;
  std::map<uint32_t, bool> asleep_;  // by owner; true if the contents are kept
  uint64_t last_contents_ = 0;
  std::optional<std::string> problem_;
};

}  // namespace

std::optional<std::string> FirstProblem(const Program& program, const Way& way) {
  return Machine(way).Run(program);
}

}  // namespace memtrace::program
