// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_LIVES_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_LIVES_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "absl/base/attributes.h"
#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/by_card.h"
#include "tools/analysis/replayed/living_blocks.h"

namespace memtrace::analysis {

// The way in which a block comes nearer to its end.
enum class FreeBy : uint8_t {
  kRequest,     // FreeRequested
  kCompletion,  // FreeCompleted
  kReuse,       // its address is given to another block: the trace has lost its free
};

// The living blocks of all cards, each with what a pass keeps about it (`Block`), and the rules of
// their lives. No other reader of events has these rules.
//
//   event          no block at its address   a block in use       a block that waits
//   Allocate       Born                      LetGo, Ended, Born   Ended, Born
//   Alive          Found                     LetGo, Ended, Found  Ended, Found
//   FreeRequested  Stray                     LetGo                Stray
//   FreeCompleted  Stray                     LetGo, Ended         Ended
//
// So each block is Born, or Found because it lived when recording began; it is LetGo of once, and
// Ended once. A block that was Found waiting is not LetGo of again. A pass handles each of these,
// as it does each other kind of event, and names the kinds that it ignores (trace::OneOf):
//
//   lives_.Apply(event.payload, [this](const auto& happened) { Apply(happened); });
//
// Blocks count by the address at which they begin. A block that a later one covers from another
// address lives on: only Consistency, which keeps the order of addresses at every event, sees that.
//
// Thread rule: one thread at a time. A pass must not call Apply from within what it is told.
template <typename Block>
class BlockLives {
 public:
  struct Life {
    Block block{};
    bool waiting = false;  // it was let go of
  };

  // A new block; `block` is as its constructor makes it, and also for Found.
  struct Born {
    const trace::Allocate& allocation;
    Block& block;
  };
  // A block that lived when recording began. `alive.waiting`: it has already been let go of.
  struct Found {
    const trace::Alive& alive;
    Block& block;
  };
  // A block that is no longer in use.
  struct LetGo {
    int32_t device;
    uint64_t address;
    Block& block;
    FreeBy by;
  };
  // A block that is forgotten once the pass was told. `by` is never kRequest.
  struct Ended {
    int32_t device;
    uint64_t address;
    Block& block;
    FreeBy by;
  };
  // A free that changes nothing.
  struct Stray {
    int32_t device;
    uint64_t address;
    Block* block;  // null if none lives there; else one that was let go of before
    FreeBy by;
  };

  // Tells `pass` what happens to blocks, and passes on any other event as it is.
  template <typename Pass>
  void Apply(const trace::Payload& payload, const Pass& pass) {
    std::visit([&](const auto& event) { Follow(event, pass); }, payload);
  }

  // Do the same for one kind of event, for passes over what is not a trace yet.
  template <typename Pass>
  void Follow(const trace::Allocate& allocation, const Pass& pass) {
    pass(Born{allocation, Replace(allocation, pass).block});
  }
  template <typename Pass>
  void Follow(const trace::Alive& alive, const Pass& pass) {
    Life& life = Replace(alive.block, pass);
    life.waiting = alive.waiting != 0;
    pass(Found{alive, life.block});
  }
  template <typename Pass>
  void Follow(const trace::FreeRequested& free, const Pass& pass);
  template <typename Pass>
  void Follow(const trace::FreeCompleted& free, const Pass& pass);

  const std::map<int32_t, LivingBlocks<Life>>& cards() const { return cards_.values(); }
  LivingBlocks<Life>& card(int32_t device) { return cards_[device]; }
  // Returns the living block that begins at `address`; null if there is none.
  const Life* At(int32_t device, uint64_t address) const {
    const auto card = cards().find(device);
    return card == cards().end() ? nullptr : card->second.At(address);
  }

  // The bytes of a living block that a label describes.
  struct Labelled {
    Block& block;
    uint64_t begin;
    uint64_t end;
  };
  // Returns nothing if no block's requested bytes lie at the label's address. A label that reaches
  // past them says nothing about what lies there. `requested_of`: gives the bytes of a Block.
  template <typename RequestedOf>
  std::optional<Labelled> LabelledBy(const trace::Relabel& label, const RequestedOf& requested_of);

 private:
  template <trace::OneOf<trace::Reserve, trace::Map, trace::Unmap, trace::Relabel, trace::Step,
                         trace::PhaseChange, trace::TagChange, trace::Annotate, trace::OutOfMemory,
                         trace::CardSample, trace::Lost, trace::OutsideAllocate, trace::OutsideFree,
                         trace::Resume, trace::Activity, trace::Moved>
                Other,
            typename Pass>
  void Follow(const Other& event, const Pass& pass) {
    pass(event);
  }

  // Makes room for a new block.
  template <typename Pass>
  Life& Replace(const trace::Allocate& allocation, const Pass& pass) {
    const auto [life, is_new] = cards_[allocation.device].TryAdd(allocation.address);
    if (!is_new) EndLost(allocation, *life, pass);
    return *life;
  }
  // Rare, so it is kept out of the way of the common case.
  template <typename Pass>
  ABSL_ATTRIBUTE_NOINLINE void EndLost(const trace::Allocate& next, Life& life, const Pass& pass) {
    End(next.device, next.address, life, FreeBy::kReuse, pass);
    life = Life();
  }
  template <typename Pass>
  void End(int32_t device, uint64_t address, Life& life, FreeBy by, const Pass& pass) {
    if (!std::exchange(life.waiting, true)) pass(LetGo{device, address, life.block, by});
    pass(Ended{device, address, life.block, by});
  }

  ByCard<LivingBlocks<Life>> cards_;
};

template <typename Block>
template <typename Pass>
void BlockLives<Block>::Follow(const trace::FreeRequested& free, const Pass& pass) {
  Life* life = cards_[free.device].At(free.address);
  if (life == nullptr) {
    pass(Stray{free.device, free.address, nullptr, FreeBy::kRequest});
  } else if (life->waiting) {
    pass(Stray{free.device, free.address, &life->block, FreeBy::kRequest});
  } else {
    life->waiting = true;
    pass(LetGo{free.device, free.address, life->block, FreeBy::kRequest});
  }
}

template <typename Block>
template <typename Pass>
void BlockLives<Block>::Follow(const trace::FreeCompleted& free, const Pass& pass) {
  const bool lived = cards_[free.device].Remove(free.address, [&](Life& life) {
    End(free.device, free.address, life, FreeBy::kCompletion, pass);
  });
  if (!lived) pass(Stray{free.device, free.address, nullptr, FreeBy::kCompletion});
}

template <typename Block>
template <typename RequestedOf>
std::optional<typename BlockLives<Block>::Labelled> BlockLives<Block>::LabelledBy(
    const trace::Relabel& label, const RequestedOf& requested_of) {
  LivingBlocks<Life>& living = cards_[label.device];
  typename LivingBlocks<Life>::Entry home{label.address, living.At(label.address)};
  if (home.block == nullptr) home = living.AtOrBelow(label.address);
  if (home.block == nullptr) return std::nullopt;
  const uint64_t end = home.address + requested_of(home.block->block);
  if (label.address >= end) return std::nullopt;
  const uint64_t rest = end - label.address;
  const uint64_t size = label.size == 0 ? rest : std::min(label.size, rest);
  return Labelled{home.block->block, label.address, label.address + size};
}

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BLOCK_LIVES_H_
