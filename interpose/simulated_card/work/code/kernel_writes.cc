// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/kernel_writes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

// Only small blocks are searched, because a table of pointers is small.
constexpr std::uint64_t kMostBytesOfTable = 64 << 10;

}  // namespace

void KernelWrites::HandOut(Address begin, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  auto next = blocks_.upper_bound(begin);
  if (next != blocks_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second > begin) next = before;
  }
  while (next != blocks_.end() && next->first < begin + bytes) next = blocks_.erase(next);
  blocks_.emplace_hint(next, begin, bytes);
}

void KernelWrites::MayWriteThrough(std::span<const Address> given) {
  if (known_.IsEmpty()) return;
  std::vector<Block> blocks = BlocksOf(given);
  std::vector<Address> within;
  for (const Block& block : blocks) {
    const std::vector<Address> found = AddressesIn(block);
    within.insert(within.end(), found.begin(), found.end());
  }
  const std::vector<Block> reached = BlocksOf(within);
  blocks.insert(blocks.end(), reached.begin(), reached.end());
  for (const Block& block : blocks) known_.Forget(ExtentsOf(block));
}

void KernelWrites::MayWriteAnything() { known_.ForgetAll(); }

std::vector<KernelWrites::Block> KernelWrites::BlocksOf(std::span<const Address> given) const {
  std::vector<Block> blocks;
  for (const Address address : given) {
    if (!AddressRanges::Contains(address)) continue;
    {
      const MutexLock lock(mutex_);
      const auto after = blocks_.upper_bound(address);
      const auto block = after == blocks_.begin() ? blocks_.end() : std::prev(after);
      if (block != blocks_.end() && address < block->first + block->second) {
        blocks.push_back({block->first, block->second});
        continue;
      }
    }
    if (const std::optional<MappedRange> mapping = space_.Find(address))
      blocks.push_back({mapping->begin, mapping->bytes});
  }
  return blocks;
}

std::vector<Address> KernelWrites::AddressesIn(const Block& block) const {
  std::vector<Address> addresses;
  if (block.bytes < sizeof(Address) || block.bytes > kMostBytesOfTable) return addresses;
  for (const Extent& extent : ExtentsOf(block)) {
    std::vector<Address> values(extent.bytes / sizeof(Address));
    if (!file_.Read(extent.offset, std::as_writable_bytes(std::span(values)))) continue;
    std::copy_if(values.begin(), values.end(), std::back_inserter(addresses),
                 [](Address value) { return AddressRanges::Contains(value); });
  }
  return addresses;
}

std::vector<Extent> KernelWrites::ExtentsOf(const Block& block) const {
  std::vector<Extent> extents;
  const Result found = space_.Translate(block.begin, block.bytes, Access::kRead, &extents);
  return found == Result::kSuccess ? extents : std::vector<Extent>{};
}

}  // namespace memtrace::card
