// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/free_ranges.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

// Invariants:
// 1. a block is in the tree of its size's bin, and `occupied_` has exactly the bins with a tree;
// 2. in order, blocks of a tree ascend by (size, address);
// 3. no block has a higher priority than its parent;
// 4. every block is free, and neither of its neighbours is;
// 5. `bytes_` is the sum of the blocks' sizes;
// 6. after KeepByAddress, `by_address_` has every block, ascending by address; else it is empty.
namespace memtrace {
namespace {

bool Less(const Block& a, const Block& b) {
  return a.size != b.size ? a.size < b.size : a.address < b.address;
}

void AppendFitting(Block* node, Bytes size, std::vector<Block*>& found) {
  if (node == nullptr) return;
  if (node->size >= size) {
    AppendFitting(node->left, size, found);
    found.push_back(node);
  }
  AppendFitting(node->right, size, found);
}

}  // namespace

Block* FreeRanges::Take(Bytes size) {
  Block* block = BestFit(size);
  if (block == nullptr) return nullptr;
  const bool keeps_bin = block->size > size && StaysInBin(block, block->size - size);
  if (keeps_bin) {
    bytes_ -= size;
  } else {
    Remove(block);
  }
  if (block->size > size) {
    Block* rest = arena_.Split(block, size);
    keeps_bin ? SetAloneInBin(rest) : Insert(rest);
  }
  block->state = Block::State::kAllocated;
  return block;
}

Block* FreeRanges::TakeWhole(Bytes size) {
  Block* block = BestFit(size);
  if (block == nullptr) return nullptr;
  Remove(block);
  block->state = Block::State::kAllocated;
  return block;
}

Block* FreeRanges::TakeAt(Block* range, DeviceAddress address, Bytes size) {
  Remove(range);
  Block* block = range;
  if (range->address < address) {
    block = arena_.Split(range, address - range->address);
    Insert(range);
  }
  if (block->size > size) Insert(arena_.Split(block, size));
  block->state = Block::State::kAllocated;
  return block;
}

Block* FreeRanges::Return(Block* block) {
  block->state = Block::State::kFree;
  const bool is_below = IsFree(block->previous);
  if (IsFree(block->next)) {
    if (!is_below) return Merge(block, block->next);
    Remove(block->next);
    arena_.AbsorbNext(block);
  }
  if (is_below) return Merge(block->previous, block->previous);
  Insert(block);
  return block;
}

// Merges `lower` with its next neighbour; `range` is the one of the two that is already a range.
Block* FreeRanges::Merge(Block* lower, Block* range) {
  const Bytes size = lower->size + lower->next->size;
  const bool keeps_bin = StaysInBin(range, size);
  if (keeps_bin) {
    bytes_ += size - range->size;
  } else {
    Remove(range);
  }
  arena_.AbsorbNext(lower);
  keeps_bin ? SetAloneInBin(lower) : Insert(lower);
  return lower;
}

// True if a range keeps its place in the order when its size changes. This is nearly always so
// while small blocks are cut from a large range and returned to it.
bool FreeRanges::StaysInBin(const Block* range, Bytes size) const {
  if (is_by_address_) return false;
  const size_t bin = BinOf(range->size);
  return BinOf(size) == bin && roots_[bin] == range && range->left == nullptr &&
         range->right == nullptr;
}

// Makes the block the only one of its bin. REQUIRES: the bin is empty, or has only the record that
// the block replaces.
void FreeRanges::SetAloneInBin(Block* block) {
  block->left = block->right = nullptr;
  roots_[BinOf(block->size)] = block;
}

Bytes FreeRanges::largest() const {
  const size_t bin = occupied_.Last();
  if (bin == BinSet::kNone) return 0;
  const Block* node = roots_[bin];
  while (node->right != nullptr) node = node->right;
  return node->size;
}

std::vector<Block*> FreeRanges::FindAllFitting(Bytes size) const {
  std::vector<Block*> found;
  for (size_t bin = occupied_.Next(BinOf(size)); bin != BinSet::kNone;
       bin = occupied_.Next(bin + 1)) {
    AppendFitting(roots_[bin], size, found);
  }
  return found;
}

Block* FreeRanges::BestFit(Bytes size) const {
  for (size_t bin = occupied_.Next(BinOf(size)); bin != BinSet::kNone;
       bin = occupied_.Next(bin + 1)) {
    Block* best = nullptr;
    for (Block* node = roots_[bin]; node != nullptr;) {
      const bool fits = node->size >= size;
      if (fits) best = node;
      node = fits ? node->left : node->right;
    }
    if (best != nullptr) return best;  // always, from the second bin on
  }
  return nullptr;
}

std::vector<Block*>::const_iterator FreeRanges::FirstAfter(DeviceAddress address) const {
  return std::upper_bound(by_address_.begin(), by_address_.end(), address,
                          [](DeviceAddress at, const Block* range) { return at < range->address; });
}

Block* FreeRanges::At(DeviceAddress address) const {
  const auto after = FirstAfter(address);
  if (after == by_address_.begin()) return nullptr;
  Block* range = *std::prev(after);
  return address < range->end() ? range : nullptr;
}

void FreeRanges::Insert(Block* block) {
  if (is_by_address_) by_address_.insert(FirstAfter(block->address), block);
  bytes_ += block->size;
  const size_t bin = BinOf(block->size);
  occupied_.Add(bin);
  Block** link = &roots_[bin];
  while (*link != nullptr && (*link)->priority >= block->priority) {
    link = Less(**link, *block) ? &(*link)->right : &(*link)->left;
  }
  // The former subtree is split into the smaller and the larger blocks, below the new one.
  Block* rest = *link;
  *link = block;
  Block** smaller = &block->left;
  Block** larger = &block->right;
  while (rest != nullptr) {
    if (Less(*rest, *block)) {
      *smaller = rest;
      smaller = &rest->right;
      rest = *smaller;
    } else {
      *larger = rest;
      larger = &rest->left;
      rest = *larger;
    }
  }
  *smaller = nullptr;
  *larger = nullptr;
}

void FreeRanges::Remove(Block* block) {
  if (is_by_address_) by_address_.erase(std::prev(FirstAfter(block->address)));
  bytes_ -= block->size;
  const size_t bin = BinOf(block->size);
  Block** link = &roots_[bin];
  while (*link != block) {
    MEMTRACE_CHECK(*link != nullptr);
    link = Less(**link, *block) ? &(*link)->right : &(*link)->left;
  }
  // Joins the two subtrees; the higher priority becomes the parent at each step.
  Block* smaller = block->left;
  Block* larger = block->right;
  while (smaller != nullptr && larger != nullptr) {
    if (smaller->priority >= larger->priority) {
      *link = smaller;
      link = &smaller->right;
      smaller = *link;
    } else {
      *link = larger;
      link = &larger->left;
      larger = *link;
    }
  }
  *link = smaller != nullptr ? smaller : larger;
  if (roots_[bin] == nullptr) occupied_.Remove(bin);
}

// Aborts unless each range lies in the tree of its own bin.
void FreeRanges::CheckBins() const {
  std::vector<const Block*> rest;
  for (size_t bin = occupied_.Next(0); bin != BinSet::kNone; bin = occupied_.Next(bin + 1)) {
    rest.push_back(roots_[bin]);
    while (!rest.empty()) {
      const Block* block = rest.back();
      rest.pop_back();
      MEMTRACE_CHECK_EQ(BinOf(block->size), bin);
      for (const Block* child : {block->left, block->right})
        if (child != nullptr) rest.push_back(child);
    }
  }
}

void FreeRanges::CheckInvariants() const {
  CheckBins();  // 1
  const std::vector<Block*> all = FindAllFitting(0);
  Bytes sum = 0;
  const Block* last = nullptr;
  size_t bins = 0;
  for (const Block* block : all) {
    if (last != nullptr) MEMTRACE_CHECK(Less(*last, *block));  // 2
    for (const Block* child : {block->left, block->right}) {
      if (child != nullptr) MEMTRACE_CHECK_LE(child->priority, block->priority);  // 3
    }
    MEMTRACE_CHECK(IsFree(block));  // 4
    MEMTRACE_CHECK(!IsFree(block->previous));
    MEMTRACE_CHECK(!IsFree(block->next));
    const size_t bin = BinOf(block->size);
    MEMTRACE_CHECK_EQ(occupied_.Next(bin), bin);  // 1
    if (last == nullptr || BinOf(last->size) != bin) ++bins;
    sum += block->size;
    last = block;
  }
  MEMTRACE_CHECK_EQ(by_address_.size(), is_by_address_ ? all.size() : 0);  // 6
  if (is_by_address_) {
    for (Block* range : all) MEMTRACE_CHECK_EQ(At(range->address), range);
  }
  MEMTRACE_CHECK_EQ(bins, occupied_.Count());  // 1
  MEMTRACE_CHECK_EQ(sum, bytes_);              // 5
}

}  // namespace memtrace
