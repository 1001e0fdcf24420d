// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/importers/kineto_profile.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "base/status_macros.h"
#include "tools/interchange/importers/guessed_segments.h"
#include "tools/interchange/importers/json_elements.h"
#include "tools/interchange/importers/kineto_events.h"
#include "tools/interchange/importers/slice_stacks.h"

namespace memtrace::interchange {
namespace {

struct MemoryRecord {
  KinetoMemory memory;
  trace::StackId stack = 0;
};

struct StepRecord {
  uint64_t time_ns = 0;
  uint64_t number = 0;
};

using Place = std::pair<int32_t, uint64_t>;

// Memory of which only the sum is known lies beyond every address of a card.
constexpr uint64_t kHeldAddress = uint64_t{1} << 59;
constexpr std::string_view kHeldOwner = "before the profile";

class KinetoProfile : public ImportedRun {
 public:
  absl::Status Read(std::string_view bytes) {
    SliceStacks stacks(names_);
    const absl::Status status =
        ForEachKinetoEvent(bytes, facts_, [&](const KinetoEvent& event) { Take(event, stacks); });
    if (records_.empty()) return Empty(status);
    MEMTRACE_RETURN_IF_ERROR(CheckAddresses());
    if (!status.ok()) fault_ = std::string(status.message());
    Sort();
    ResolveStacks(stacks);
    FindEarlier();
    return absl::OkStatus();
  }

  std::map<std::string, std::string> Info() const override {
    std::map<std::string, std::string> info = {{"imported", "torch.profiler"},
                                               {"allocator", "native"}};
    if (!facts_.rank.empty()) info["environment.RANK"] = facts_.rank;
    if (facts_.base_ns != 0 && facts_.base_ns < std::numeric_limits<uint64_t>::max() - first_ns_)
      info["started_unix_ns"] = std::to_string(facts_.base_ns + first_ns_);
    return info;
  }
  std::string_view String(trace::StringId id) const override { return names_.Text(id); }
  std::vector<trace::Frame> Stack(trace::StackId id) const override { return names_.Frames(id); }
  void ForEach(const std::function<void(const trace::Event&)>& visit) const override;

 private:
  void Take(const KinetoEvent& event, SliceStacks& stacks) {
    if (const auto* memory = std::get_if<KinetoMemory>(&event)) {
      records_.push_back({*memory, 0});
      return;
    }
    const auto& slice = std::get<KinetoSlice>(event);
    uint64_t number = 0;
    if (slice.kind != KinetoSlice::Kind::kStep) {
      stacks.Add(slice);
    } else if (absl::SimpleAtoi(std::string(slice.name.substr(slice.name.find('#') + 1)),
                                &number)) {
      steps_.push_back({slice.begin_ns, number});
    }
  }

  absl::Status Empty(const absl::Status& status) const {
    if (!status.ok()) return status;
    return absl::InvalidArgumentError(
        facts_.other_devices > 0
            ? "it has only the host's memory, not a card's"
            : "it has no memory event; torch.profiler writes them with profile_memory=True");
  }

  void Sort() {
    std::stable_sort(records_.begin(), records_.end(),
                     [](const MemoryRecord& a, const MemoryRecord& b) {
                       return a.memory.time_ns < b.memory.time_ns;
                     });
    std::stable_sort(steps_.begin(), steps_.end(), [](const StepRecord& a, const StepRecord& b) {
      return a.time_ns < b.time_ns;
    });
    first_ns_ = records_.front().memory.time_ns;
    if (!steps_.empty()) first_ns_ = std::min(first_ns_, steps_.front().time_ns);
  }

  void ResolveStacks(SliceStacks& stacks) {
    std::map<uint64_t, std::vector<SliceStacks::Moment>> threads;
    for (MemoryRecord& record : records_)
      threads[record.memory.thread].push_back({record.memory.time_ns, &record.stack});
    for (const auto& [thread, moments] : threads) stacks.Resolve(thread, moments);
  }

  // Finds blocks whose first event is a free: they existed before. Memory that the profiler counted
  // and that is never freed is known only by its sum.
  void FindEarlier() {
    absl::flat_hash_set<Place> seen;
    std::map<int32_t, int64_t> unseen;
    for (const MemoryRecord& record : records_) {
      const KinetoMemory& memory = record.memory;
      if (!seen.insert({memory.device, memory.address}).second) continue;
      if (memory.bytes < 0) earlier_.push_back(memory);
    }
    for (const MemoryRecord& record : records_) {
      const KinetoMemory& memory = record.memory;
      const int64_t before =
          static_cast<int64_t>(std::min<uint64_t>(memory.allocated, uint64_t{1} << 60)) -
          memory.bytes;
      unseen.try_emplace(memory.device, before);
    }
    for (const KinetoMemory& memory : earlier_) unseen[memory.device] += memory.bytes;
    for (const auto& [device, bytes] : unseen) {
      if (bytes <= 0) continue;
      held_.push_back({.device = device, .address = kHeldAddress, .bytes = bytes});
      notes_.push_back(std::to_string(bytes) + " bytes of card " + std::to_string(device) +
                       " were allocated before the profile began and not freed in it; they are one "
                       "block of owner '" +
                       std::string(kHeldOwner) + "', and the profile does not say what they are");
    }
    if (!held_.empty()) held_owner_ = names_.String(kHeldOwner);
  }

  // Fails if an event has no address, because a free is known only by its address.
  absl::Status CheckAddresses() const {
    const auto without =
        std::count_if(records_.begin(), records_.end(),
                      [](const MemoryRecord& record) { return record.memory.address == 0; });
    if (without == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        std::to_string(without) + " of its " + std::to_string(records_.size()) +
        " memory events have no address, so that no free can be matched with its allocation; "
        "torch 2 writes addresses");
  }

  std::vector<MemoryRecord> records_;
  std::vector<StepRecord> steps_;
  std::vector<KinetoMemory> earlier_;
  std::vector<KinetoMemory> held_;  // of each card, all that was there and stays, as one block
  trace::StringId held_owner_ = 0;
  KinetoFacts facts_;
  uint64_t first_ns_ = 0;
  ImportedNames names_;
};

// Turns sorted records into events.
class KinetoReplay {
 public:
  explicit KinetoReplay(const std::function<void(const trace::Event&)>& visit, uint64_t first_ns)
      : visit_(visit), first_ns_(first_ns) {}

  void Emit(uint64_t time_ns, const trace::Payload& payload) {
    visit_({++sequence_, time_ns - std::min(time_ns, first_ns_), payload});
  }

  void AddEarlier(const KinetoMemory& memory) {
    AddAlive(memory, static_cast<uint64_t>(-memory.bytes), 0);
  }

  void AddHeld(const KinetoMemory& memory, trace::StringId owner) {
    AddAlive(memory, static_cast<uint64_t>(memory.bytes), owner);
  }
  void Add(const MemoryRecord& record) {
    const KinetoMemory& memory = record.memory;
    GuessedSegments& segments = SegmentsOf(memory.device);
    if (memory.bytes >= 0) {
      const auto bytes = static_cast<uint64_t>(memory.bytes);
      segments.Allocate(memory.address, bytes, memory.reserved, EmitterAt(memory.time_ns));
      Emit(memory.time_ns, trace::Allocate{.device = memory.device,
                                           .address = memory.address,
                                           .requested = bytes,
                                           .allocated = bytes,
                                           .stack = record.stack});
    } else {
      Emit(memory.time_ns, trace::FreeRequested{memory.device, memory.address});
      Emit(memory.time_ns, trace::FreeCompleted{memory.device, memory.address});
      segments.Free(memory.address, memory.reserved, EmitterAt(memory.time_ns));
    }
  }

 private:
  void AddAlive(const KinetoMemory& memory, uint64_t bytes, trace::StringId owner) {
    trace::Alive alive;
    alive.block.device = memory.device;
    alive.block.address = memory.address;
    alive.block.requested = bytes;
    alive.block.allocated = bytes;
    alive.block.owner = owner;
    const uint64_t reserved = earlier_[memory.device] += bytes;
    SegmentsOf(memory.device).Allocate(memory.address, bytes, reserved, EmitterAt(first_ns_));
    Emit(first_ns_, alive);
  }
  GuessedSegments& SegmentsOf(int32_t device) {
    return segments_.try_emplace(device, device).first->second;
  }
  GuessedSegments::Visit EmitterAt(uint64_t time_ns) {
    return [this, time_ns](const trace::Payload& payload) { Emit(time_ns, payload); };
  }

  const std::function<void(const trace::Event&)>& visit_;
  uint64_t first_ns_;
  uint64_t sequence_ = 0;
  std::map<int32_t, GuessedSegments> segments_;
  std::map<int32_t, uint64_t> earlier_;  // bytes of the blocks that were there
};

void KinetoProfile::ForEach(const std::function<void(const trace::Event&)>& visit) const {
  KinetoReplay replay(visit, first_ns_);
  if (!earlier_.empty() || !held_.empty()) replay.Emit(first_ns_, trace::Resume{});
  for (const KinetoMemory& memory : held_) replay.AddHeld(memory, held_owner_);
  for (const KinetoMemory& memory : earlier_) replay.AddEarlier(memory);
  auto step = steps_.begin();
  for (const MemoryRecord& record : records_) {
    for (; step != steps_.end() && step->time_ns <= record.memory.time_ns; ++step)
      replay.Emit(step->time_ns, trace::Step{.number = step->number});
    replay.Add(record);
  }
}

}  // namespace

bool IsKinetoProfile(std::string_view beginning) {
  const char first = JsonElements(beginning).Peek();
  return first == '{' || first == '[';
}

absl::StatusOr<std::unique_ptr<ImportedRun>> OpenKinetoProfile(std::string_view bytes) {
  auto profile = std::make_unique<KinetoProfile>();
  MEMTRACE_RETURN_IF_ERROR(profile->Read(bytes));
  return profile;
}

}  // namespace memtrace::interchange
