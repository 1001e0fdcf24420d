// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/spill_policy.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "allocator/blocks/size_policy.h"
#include "base/environment.h"
#include "base/host_memory.h"
#include "interpose/core/room/launching_threads.h"
#include "interpose/core/size_text.h"
#include "interpose/core/spoken_sentence.h"
#include "messages/message.h"
#include "profiler/trace/events/amount.h"
#include "profiler/trace/events/printable_text.h"
#include "profiler/trace/events/unused_name.h"

namespace memtrace {
namespace {

using Clock = std::chrono::steady_clock;

std::map<VictimKind, Bytes> SumsByKind(const VictimClasses& classes, const Spill::Moved& moved) {
  std::map<VictimKind, Bytes> sums;
  for (size_t i = 0; i < moved.by_class.size(); ++i)
    if (moved.by_class[i] > 0) sums[classes.kinds[i]] += moved.by_class[i];
  return sums;
}

// Returns the kind of which most bytes moved.
VictimKind MostOf(const VictimClasses& classes, const Spill::Moved& moved) {
  const std::map<VictimKind, Bytes> sums = SumsByKind(classes, moved);
  const auto most = std::max_element(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == sums.end() ? VictimKind{} : most->first;
}

// `name` is that of the kind of which most bytes moved.
std::string MovedSentence(int device, const std::string& on_host, const VictimKind& most,
                          const std::string& name) {
  const std::string printable = trace::PrintableText(name);
  const std::string what =
      most.owner == 0
          ? Message(
                "Card $0 is full, so the host has $1 of its memory now (--spill), mostly of "
                "role $2.",
                device, on_host, printable)
          : Message(
                "Card $0 is full, so the host has $1 of its memory now (--spill), mostly of "
                "'$2'.",
                device, on_host, printable);
  const std::string unused =
      most.is_unused ? " " + Message("No operation used that in this step and the last one.") : "";
  return what + unused + " " + Message("The card reaches it over the bus, which is slower.");
}

}  // namespace

Bytes ReadSpillLimit() {
  const std::string text(env::Text(env::kSpill));
  if (text.empty()) return 0;
  if (const auto bytes = trace::BytesOf(text)) return *bytes;
  PrintSentence(
      Message("MEMTRACE_SPILL is ignored: '$0' is not a size; write for example 16GiB.", text));
  return 0;
}

bool SpillPolicy::IsOn(int device) const {
  if (!is_supported_.load(std::memory_order_relaxed) || cards_.is_forked()) return false;
  CachingAllocator* allocator = cards_.allocator(device);
  return allocator != nullptr && allocator->movement().spill().is_on();
}

bool SpillPolicy::IsOnAnyCard() const {
  const std::vector<ServedCard>& cards = cards_.all();
  return std::any_of(cards.begin(), cards.end(),
                     [this](const ServedCard& card) { return IsOn(card.reader->device()); });
}

Bytes SpillPolicy::MakeRoom(const OutOfMemoryEvent& failure) {
  const int device = static_cast<int>(failure.device);
  const Bytes wanted = failure.allocated - std::min(failure.allocated, failure.obtainable);
  if (!IsOn(device) || !IsAllowed()) return 0;
  // The request may need no more than freed blocks still have.
  if (const Bytes freed = SpillOf(device).FreeLeftBlocks(); freed > 0) {
    TellBack(device, freed, /*copied=*/0, {});
    return freed;
  }
  if (!HostHasRoom(device, wanted)) return 0;
  before_.Call();
  trace::Phase phase{};
  std::vector<recorder::PlacedBlock> blocks = BlocksInUse(device, phase);
  const std::optional<uint64_t> step =
      recorder_.load(std::memory_order_acquire)->uses().SetIn(blocks);
  const VictimClasses classes =
      ChooseVictims(blocks, phase, TakeIdle(device, blocks), OfMovableOwners(device, blocks), step);
  const auto begin = Clock::now();
  const Spill::Moved moved = SpillOf(device).PutOnHost(classes.blocks, std::max<Bytes>(wanted, 1));
  NoteRefusal(moved.status);
  KeepMoved(device, blocks, classes);
  TellBack(device, moved.freed, /*copied=*/0, {});
  if (moved.bytes > 0) TellMoves(device, classes, moved, Clock::now() - begin);
  return moved.bytes;
}

void SpillPolicy::NoteIdle(int device, std::vector<DeviceAddress> addresses) {
  const MutexLock lock(mutex_);
  idle_[device].push_back(std::move(addresses));
}

// Returns the memory of idle models that movable owners have. Other models stay, because the
// kernels of a forward may read parameters several times, and nobody has said that theirs may move.
IdleModels SpillPolicy::TakeIdle(int device, const std::vector<recorder::PlacedBlock>& blocks) {
  IdleModels stated;
  {
    const MutexLock lock(mutex_);
    stated.swap(idle_[device]);
    idle_.clear();
  }
  const Spill& spill = SpillOf(device);
  for (std::vector<DeviceAddress>& model : stated)
    model = spill.OfMovableOwners(BlocksThatContain(blocks, std::move(model)));
  return stated;
}

std::vector<recorder::PlacedBlock> SpillPolicy::BlocksInUse(int device, trace::Phase& now) {
  std::vector<recorder::PlacedBlock> blocks =
      recorder_.load(std::memory_order_acquire)->blocks().BlocksInUse(DeviceIndex{device}, now);
  const std::vector<DeviceAddress> on_host = SpillOf(device).BlocksOnHost();
  const MutexLock lock(mutex_);
  std::map<DeviceAddress, recorder::PlacedBlock> moved;
  moved.swap(moved_[device]);
  for (const DeviceAddress address : on_host) {
    const auto known = moved.find(address);
    if (known == moved.end()) continue;
    blocks.push_back(known->second);
    moved_[device].insert(moved.extract(known));
  }
  return blocks;
}

void SpillPolicy::KeepMoved(int device, const std::vector<recorder::PlacedBlock>& blocks,
                            const VictimClasses& classes) {
  std::set<DeviceAddress> chosen;
  for (const std::vector<DeviceAddress>& one : classes.blocks)
    chosen.insert(one.begin(), one.end());
  const MutexLock lock(mutex_);
  for (const recorder::PlacedBlock& block : blocks)
    if (chosen.contains(block.address)) moved_[device][block.address] = block;
}

// Returns the blocks of movable owners, ascending.
std::vector<DeviceAddress> SpillPolicy::OfMovableOwners(
    int device, const std::vector<recorder::PlacedBlock>& blocks) {
  std::vector<DeviceAddress> addresses;
  addresses.reserve(blocks.size());
  for (const recorder::PlacedBlock& one : blocks) addresses.push_back(one.address);
  return SpillOf(device).OfMovableOwners(addresses);
}

bool SpillPolicy::IsAllowed() {
  if (recorder_.load(std::memory_order_acquire) == nullptr) {
    SayOnce(Silence::kNoTrace,
            Message("--spill moves nothing, because without a trace it is not known what memory is "
                    "for. Leave out --no-trace."));
    return false;
  }
  if (LaunchingThreads::Count() > 1) {
    SayOnce(Silence::kThreads, Message("--spill moves nothing, because several threads of the "
                                       "program use the card."));
    return false;
  }
  return true;
}

bool SpillPolicy::HostHasRoom(int device, Bytes wanted) {
  // A driver may take memory of the host until the host ends a process.
  const bool is_real = !cards_.all()[static_cast<size_t>(device)].reader->simulated();
  if (is_real && wanted + ChunkExchange::kLargest > ReadHostMemory().available / 10 * 9) {
    SayOnce(Silence::kHost,
            Message("--spill moves no more, because the host has too little memory available."));
    return false;
  }
  return true;
}

void SpillPolicy::NoteRefusal(const absl::Status& status) {
  if (!absl::IsUnimplemented(status)) return;
  is_supported_.store(false, std::memory_order_relaxed);
  SayOnce(Silence::kUnsupported,
          Message("--spill is off, because this driver cannot put host memory behind device "
                  "addresses."));
}

void SpillPolicy::TellMoves(int device, const VictimClasses& classes, const Spill::Moved& moved,
                            std::chrono::nanoseconds duration) {
  {
    const MutexLock lock(mutex_);
    counts_[device].moved += moved.bytes;
    ++counts_[device].times;
  }
  for (const auto& [kind, bytes] : SumsByKind(classes, moved)) {
    tell_({.device = device,
           .bytes = bytes,
           .copied = bytes,
           .duration = duration,
           .what = kind.is_unused ? trace::UnusedName(NameOf(kind)) : NameOf(kind)});
    duration = {};  // is told once
  }
  SayMoved(device, classes, moved);
}

void SpillPolicy::SayMoved(int device, const VictimClasses& classes, const Spill::Moved& moved) {
  const Bytes on_host = SpillOf(device).on_host();
  {
    const MutexLock lock(mutex_);
    Bytes& said = said_at_[device];
    if (said > 0 && on_host < 2 * said) return;
    said = on_host;
  }
  const VictimKind most = MostOf(classes, moved);
  PrintSentence(MovedSentence(device, SizeText(on_host), most, NameOf(most)));
}

std::string SpillPolicy::NameOf(const VictimKind& kind) const {
  if (kind.owner == 0) return std::string(trace::RoleName(kind.role));
  return recorder_.load(std::memory_order_acquire)->program().OwnerName(kind.owner);
}

void SpillPolicy::EndStep() {
  LaunchingThreads::EndStep();
  for (const ServedCard& card : cards_.all()) {
    const int device = card.reader->device();
    if (!IsOn(device)) continue;
    const auto begin = Clock::now();
    Spill& spill = card.allocator->movement().spill();
    Spill::CameBack back;
    if (LaunchingThreads::Count() <= 1) back = spill.EndStep();
    TellBack(device, LeftHost(device, spill.on_host()), back.bytes, Clock::now() - begin);
  }
}

// Returns what has left the host since it was last told: it came back, was freed, or fell asleep.
Bytes SpillPolicy::LeftHost(int device, Bytes on_host) {
  const MutexLock lock(mutex_);
  const Counts& counts = counts_[device];
  const Bytes told = counts.moved - counts.came_back;
  return told - std::min(told, on_host);
}

void SpillPolicy::TellBack(int device, Bytes bytes, Bytes copied,
                           std::chrono::nanoseconds duration) {
  if (bytes == 0) return;
  {
    const MutexLock lock(mutex_);
    counts_[device].came_back += bytes;
  }
  tell_({.device = device,
         .is_back = true,
         .bytes = bytes,
         .copied = copied,
         .duration = duration,
         .what = ""});
}

SpillPolicy::Counts SpillPolicy::counts(int device) {
  const MutexLock lock(mutex_);
  return counts_[device];
}

void SpillPolicy::SayOnce(Silence about, const std::string& sentence) {
  {
    const MutexLock lock(mutex_);
    if (!said_.insert(about).second) return;
  }
  PrintSentence(sentence);
}

}  // namespace memtrace
