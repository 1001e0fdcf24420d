// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/block_walk.h"

namespace memtrace::analysis {

void BlockWalk::Apply(const trace::Event& event) {
  ++now_.ordinal;
  now_.sequence = event.sequence;
  now_.time_ns = event.time_ns;
  now_.at.Advance(event);
  if (ended_) blocks_.Remove(*ended_);
  block_.reset();
  ended_.reset();
  let_go_.reset();
  lives_.Apply(event.payload, [this](const auto& happened) { Apply(happened); });
}

BlockId BlockWalk::Begin(const trace::Allocate& allocation) {
  block_ = blocks_.Add();
  WalkedBlock& block = blocks_[*block_];
  block.number = births_++;
  block.allocation = allocation;
  block.birth = now_;
  return *block_;
}

void BlockWalk::Apply(const Lives::Found& found) {
  found.block = Begin(found.alive.block);
  WalkedBlock& block = blocks_[found.block];
  block.birth.sequence = found.alive.birth;
  block.birth.at = now_.at.BirthOf(found.alive);
  block.before_trace = true;
  if (found.alive.waiting != 0) block.free_requested = now_;
}

void BlockWalk::Apply(const Lives::LetGo& let_go) {
  if (let_go.by == FreeBy::kRequest) {
    block_ = let_go.block;
    blocks_[let_go.block].free_requested = now_;
  }
  let_go_ = let_go.block;
}

void BlockWalk::Apply(const Lives::Ended& ended) {
  if (ended.by == FreeBy::kCompletion) block_ = ended.block;
  ended_ = ended.block;
}

void BlockWalk::Apply(const Lives::Stray& stray) {
  if (stray.block != nullptr) block_ = *stray.block;
}

void BlockWalk::Apply(const trace::Relabel& relabel) {
  const auto labelled =
      lives_.LabelledBy(relabel, [this](BlockId id) { return blocks_[id].allocation.requested; });
  if (labelled) block_ = labelled->block;
}

void BlockWalk::ForEachLiving(const std::function<void(const WalkedBlock&)>& visit) const {
  for (const auto& [device, living] : lives_.cards()) ForEachLiving(device, visit);
}

void BlockWalk::ForEachLiving(int32_t device,
                              const std::function<void(const WalkedBlock&)>& visit) const {
  const auto found = lives_.cards().find(device);
  if (found == lives_.cards().end()) return;
  found->second.ForEachInOrder([&](const Lives::Life& life) { visit(blocks_[life.block]); });
}

void BlockWalk::ForEachLiving(int32_t device, uint64_t begin, uint64_t end,
                              const std::function<void(const WalkedBlock&)>& visit) {
  lives_.card(device).ForEachFrom(begin, end,
                                  [&](const Lives::Life& life) { visit(blocks_[life.block]); });
}

}  // namespace memtrace::analysis
