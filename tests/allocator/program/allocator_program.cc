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
#include "tests/allocator/program/capture_order.h"
#include "tests/allocator/program/program_card.h"
#include "tests/allocator/program/sleep_model.h"
#include "tests/allocator/program/spill_model.h"

namespace memtrace::program {
namespace {

constexpr ContextId kContext{7};

// Runs a program and compares the result of each step with the model: which blocks are in use, and
// which work on which addresses is unfinished.
class Machine {
 public:
  explicit Machine(const Way& way)
      : check_every_(way.check_every), keeps_contents_(way.keeps_contents), card_(way) {}

  // Returns the first problem, if there is one.
  std::optional<std::string> Run(const Program& program) {
    for (size_t i = 0; i < program.size() && !problem_.first.has_value(); ++i) {
      std::visit([this](const auto& instruction) { Perform(instruction); }, program[i]);
      if ((i + 1) % check_every_ == 0 || i + 1 == program.size()) CheckAll();
      if (problem_.first.has_value()) *problem_.first += absl::StrCat(" (instruction ", i, ")");
    }
    return problem_.first;
  }

 private:
  struct Unfinished {
    DeviceAddress begin, end;
    MemoryStreams::Work work;
  };

  void Perform(const Allocate& i) {
    const uint64_t failed = card_.failures.failed();
    const AllocationResult result = Request(i);
    if (sleep_.IsAsleep(i.owner)) {
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
    const bool is_there = !sleep_.IsAsleep(block->second.owner) && spill_.HasMemory(block->second);
    if (!is_there) return;  // a program must not touch it
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
      if (sleep_.IsAsleep(owner)) return;
    }
    const auto obstacle = card_.allocator.movement().graph_turns().ObstacleOf(IdOf(i.pool));
    if (obstacle.has_lost_memory) return;
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
      Expect(is_shared || has_taken_turns_ || sleep_.is_any_asleep() ||
                 card_.allocator.accounts().ledger().stream_wait > 0,
             "RestorePool failed");
      return;
    }
    Expect(restored->allocated.size() == graph.in_use_then.size(), "restored another number");
    std::erase_if(in_use_, [&](const auto& entry) { return entry.second.pool == i.pool; });
    for (auto [address, block] : graph.in_use_then) {
      block.is_shared = false;
      block.contents = InUse::kUnknown;
      in_use_[address] = block;
    }
  }

  void Perform(const PutToSleep& i) {
    sleep_.Perform(i, IsAnyCaptured());
    spill_.FindOnHost(in_use_);
  }
  void Perform(const Wake& i) {
    sleep_.Perform(i, in_use_);
    spill_.FindOnHost(in_use_);
  }

  void Perform(const MoveToHost& i) { spill_.Perform(i, in_use_, IsAnyCaptured()); }
  void Perform(const EndStep& i) { spill_.Perform(i, in_use_); }

  // Memory that work still uses may stay; nothing that the program uses may go.
  void Perform(const GiveWay& i) {
    const Bytes before = Reserved();
    const auto given = card_.allocator.movement().give_way().Give(
        {.bytes = i.bytes, .is_shortfall = i.is_shortfall, .limit = {}, .continues = i.continues});
    Expect(Reserved() == before - given.returned, "gave way by another amount");
  }
  void Perform(const ContinueGiving&) { card_.allocator.movement().give_way().Continue(); }

  // Lets the pools of the graphs have their free memory in common.
  void Perform(const TakeTurns&) {
    const Bytes before = Reserved();
    const uint64_t failed = card_.failures.failed();
    TakingTurns::Shared shared;
    const absl::Status status =
        card_.allocator.movement().graph_turns().Share({IdOf(1), IdOf(2)}, shared);
    const bool has_failed = failed != card_.failures.failed();
    Expect(Reserved() == before - shared.saved, "saved another amount");
    Expect(has_failed || has_lost_memory_ || !shared.is_lost,
           "lost memory although no call failed");
    has_lost_memory_ |= shared.is_lost;
    const bool is_refused = absl::IsNotFound(status) || IsAnyCaptured();
    Expect(status.ok() || has_failed || is_refused, "taking turns failed");
    has_taken_turns_ |= status.ok();
  }

  Bytes Reserved() const { return card_.allocator.accounts().ledger().reserved; }

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
    if (i.owner != 0 || keeps_contents_) {
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
      if (sleep_.IsAsleep(block.owner) || spill_.IsOnHost(address)) continue;
      ++blocks;
      requested += block.bytes;
      allocated += block.size;
    }
    const AllocatorLedger ledger = card_.allocator.accounts().ledger();
    const Statistics statistics = card_.allocator.accounts().statistics();
    const bool is_known = !spill_.is_torn();
    Expect(!is_known || ledger.live_requested == requested, "live_requested");
    Expect(!is_known || ledger.live_allocated == allocated, "live_allocated");
    Expect(!is_known || statistics.allocation.all.current == blocks, "allocation");
    Expect(ledger.on_host <= card_.vmm.on_host(), "more on the host than it gave");
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
    InUseBlocks in_use_then;
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

  InUseBlocks::iterator At(size_t index) {
    return std::next(in_use_.begin(), static_cast<std::ptrdiff_t>(index % in_use_.size()));
  }

  void Expect(bool is_true, const char* what) { problem_.Expect(is_true, what); }

  const size_t check_every_;
  const bool keeps_contents_;
  ProgramCard card_;
  InUseBlocks in_use_;
  std::vector<Unfinished> unfinished_;
  std::map<uint64_t, Graph> graphs_;
  uint64_t last_contents_ = 0;
  bool has_taken_turns_ = false;
  bool has_lost_memory_ = false;
  Problem problem_;
  SleepModel sleep_{card_, problem_};
  SpillModel spill_{card_, problem_, sleep_};
};

}  // namespace

std::optional<std::string> FirstProblem(const Program& program, const Way& way) {
  return Machine(way).Run(program);
}

}  // namespace memtrace::program
