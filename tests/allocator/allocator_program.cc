// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/allocator/allocator_program.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "allocator/size_policy.h"
#include "tests/allocator/card.h"

namespace memtrace::program {
namespace {

uint64_t Number(StreamId stream) { return static_cast<uint64_t>(stream); }

struct Printer {
  std::string operator()(const Allocate& i) const {
    return absl::StrCat("Allocate{", i.bytes, ", ", Number(i.stream), "}");
  }
  std::string operator()(const Free& i) const { return absl::StrCat("Free{", i.index, "}"); }
  std::string operator()(const Share& i) const {
    return absl::StrCat("Share{", i.index, ", ", Number(i.stream), "}");
  }
  std::string operator()(const Finish& i) const {
    return absl::StrCat("Finish{", Number(i.stream), "}");
  }
  std::string operator()(const EmptyCache&) const { return "EmptyCache{}"; }
  std::string operator()(const SetLimit& i) const {
    return absl::StrCat("SetLimit{", i.limit, "}");
  }
  std::string operator()(const Fail& i) const {
    return absl::StrCat("Fail{", i.nth, i.repeat == CallFailures::Repeat::kOnce ? "}" : ", on}");
  }
  std::string operator()(const StopFailing&) const { return "StopFailing{}"; }
};

// Runs a program; each step's answer is compared with the model's: what is in use, and which work
// on which addresses is unfinished.
class Machine {
 public:
  // The first thing that is wrong, if any.
  std::optional<std::string> Run(const Program& program) {
    for (size_t i = 0; i < program.size() && !problem_.has_value(); ++i) {
      std::visit([this](const auto& instruction) { Perform(instruction); }, program[i]);
      card_.allocator.CheckInvariants();
      CompareSums();
      if (problem_.has_value()) *problem_ += absl::StrCat(" (instruction ", i, ")");
    }
    return problem_;
  }

 private:
  struct InUse {
    Bytes bytes = 0;
    Bytes size = 0;
    StreamId stream{};
    std::vector<StreamId> shared;
  };
  struct Unfinished {
    DeviceAddress begin = 0, end = 0;
    MemoryStreams::Work work;
  };

  void Perform(const Allocate& i) {
    const uint64_t failed = card_.failures.failed();
    const AllocationResult result = card_.allocator.Allocate(i.bytes, i.stream, 7);
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
    Use(block->first, block->second.bytes, i.stream);
    Expect(card_.allocator.RecordStream(block->first, i.stream).ok(), "record_stream failed");
  }

  void Perform(const Finish& i) { card_.streams.Finish(i.stream); }

  void Perform(const EmptyCache&) {
    const uint64_t failed = card_.failures.failed();
    const bool ok = card_.allocator.EmptyCache().ok();
    if (failed != card_.failures.failed()) return;
    Expect(ok, "EmptyCache failed");
    Expect(card_.allocator.ledger().cached == 0, "whole chunks left after EmptyCache");
    Expect(card_.allocator.ledger().stream_wait == 0, "waiting blocks left after EmptyCache");
  }

  void Perform(const SetLimit& i) { card_.allocator.SetLimit(i.limit); }
  void Perform(const Fail& i) {
    card_.failures.FailNthOfAny(i.nth, i.repeat, absl::InternalError("injected"));
  }
  void Perform(const StopFailing&) { card_.failures.StopFailing(); }

  void Add(DeviceAddress address, const Allocate& i) {
    const Bytes size = RoundedSize(i.bytes);
    const auto above = in_use_.lower_bound(address);
    Expect(above == in_use_.end() || above->first >= address + size, "overlaps the block above");
    if (above != in_use_.begin()) {
      const auto below = std::prev(above);
      Expect(below->first + below->second.size <= address, "overlaps the block below");
    }
    Expect(address % kAllocationUnit == 0, "not aligned");
    // Stream order: only work of its own stream may still be using what a stream is given.
    std::erase_if(unfinished_, [&](const auto& u) { return card_.streams.IsFinished(u.work); });
    for (const Unfinished& u : unfinished_) {
      Expect(u.work.stream == i.stream || u.end <= address || address + size <= u.begin,
             "another stream still uses it");
    }
    in_use_[address] = {i.bytes, size, i.stream, {}};
    Use(address, i.bytes, i.stream);
  }

  void Use(DeviceAddress address, Bytes bytes, StreamId stream) {
    const MemoryStreams::Work work = card_.streams.Queue(stream);
    card_.vmm.NoteUse(address, bytes, work);
    unfinished_.push_back({address, address + bytes, work});
  }

  // The figures of a failure must be true: so much, and not one unit more.
  void CheckOutOfMemory(const OutOfMemoryEvent& oom, const Allocate& i) {
    Expect(oom.obtainable < oom.allocated, "failed although obtainable");
    Expect(oom.ledger.stream_wait == 0, "failed although frees were waiting");
    Expect(oom.ledger.cached == 0, "failed although whole chunks were cached");
    const bool is_same_group = IsSmall(oom.obtainable) == IsSmall(oom.allocated);
    if (oom.obtainable == 0 || !is_same_group) return;
    card_.failures.StopFailing();
    const auto more = card_.allocator.Allocate(oom.obtainable + 1, i.stream, 7);
    Expect(IsSmall(RoundedSize(oom.obtainable + 1)) != IsSmall(oom.allocated) ||
               !std::holds_alternative<DeviceAddress>(more),
           "more than obtainable was to be had");
    if (const auto* address = std::get_if<DeviceAddress>(&more)) {
      Add(*address, {oom.obtainable + 1, i.stream});
      return;
    }
    const auto most = card_.allocator.Allocate(oom.obtainable, i.stream, 7);
    const auto* address = std::get_if<DeviceAddress>(&most);
    Expect(address != nullptr, "obtainable was not to be had");
    if (address != nullptr) Add(*address, {oom.obtainable, i.stream});
  }

  void CompareSums() {
    Bytes requested = 0;
    Bytes allocated = 0;
    for (const auto& [address, block] : in_use_) {
      requested += block.bytes;
      allocated += block.size;
    }
    const AllocatorLedger ledger = card_.allocator.ledger();
    const Statistics statistics = card_.allocator.statistics();
    Expect(ledger.live_requested == requested, "live_requested");
    Expect(ledger.live_allocated == allocated, "live_allocated");
    Expect(statistics.allocation.all.current == static_cast<int64_t>(in_use_.size()), "allocation");
    Expect(ledger.reserved <= card_.vmm.used(), "reserved more than the card gave");
    Expect(card_.vmm.faults().empty(), "fault");
  }

  std::map<DeviceAddress, InUse>::iterator At(size_t index) {
    return std::next(in_use_.begin(), static_cast<std::ptrdiff_t>(index % in_use_.size()));
  }

  void Expect(bool is_true, const char* what) {
    if (!is_true && !problem_.has_value()) problem_ = what;
  }

  Card card_{128_MiB};
  std::map<DeviceAddress, InUse> in_use_;
  std::vector<Unfinished> unfinished_;
  std::optional<std::string> problem_;
};

}  // namespace

std::string Print(const Program& program) {
  return absl::StrJoin(program, "\n", [](std::string* out, const Instruction& instruction) {
    out->append(std::visit(Printer{}, instruction));
  });
}

Instruction MakeInstruction(const std::function<uint64_t(uint64_t)>& below) {
  const StreamId stream{1 + below(3)};
  const uint64_t dice = below(1000);
  if (dice < 300) return Allocate{1 + below(4_KiB), stream};
  if (dice < 380) return Allocate{1 + below(1_MiB), stream};
  if (dice < 460) return Allocate{1 + below(9_MiB), stream};
  if (dice < 470) return Allocate{1 + below(100_MiB), stream};
  if (dice < 870) return Free{below(1 << 20)};
  if (dice < 920) return Share{below(1 << 20), stream};
  if (dice < 970) return Finish{stream};
  if (dice < 975) return EmptyCache{};
  if (dice < 978) return SetLimit{below(2) == 0 ? ~Bytes{0} : below(64_MiB)};
  if (dice < 993) return Fail{1 + below(6), CallFailures::Repeat::kOnce};
  if (dice < 995) return Fail{1 + below(6), CallFailures::Repeat::kFromThenOn};
  return StopFailing{};
}

std::optional<std::string> FirstProblem(const Program& program) { return Machine().Run(program); }

}  // namespace memtrace::program
