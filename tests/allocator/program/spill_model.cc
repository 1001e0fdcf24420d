// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/allocator/program/spill_model.h"

#include <algorithm>
#include <iterator>

namespace memtrace::program {

void SpillModel::Perform(const MoveToHost& i, const InUseBlocks& in_use, bool is_any_captured) {
  if (in_use.empty()) return;
  Spill::Victims victims(2);
  std::set<DeviceAddress> may_be_there = on_host_;
  for (size_t n = 0; n < i.count; ++n) {
    const auto index = static_cast<std::ptrdiff_t>((i.first + n) % in_use.size());
    const auto& [address, block] = *std::next(in_use.begin(), index);
    victims[n < i.count / 2 ? 0 : 1].push_back(address);
    if (MayMove(block)) may_be_there.insert(address);
  }
  Spill& spill = card_.allocator.movement().spill();
  const uint64_t failed = card_.failures.failed();
  const Bytes before = spill.on_host();
  const Spill::Moved moved = spill.PutOnHost(victims, i.wanted);
  const bool is_refused = is_any_captured || absl::IsResourceExhausted(moved.status);
  problem_.Expect(moved.status.ok() || is_refused || failed != card_.failures.failed(),
                  "moving to the host failed");
  problem_.Expect(spill.on_host() == before + moved.bytes - moved.freed, "moved another amount");
  FindOnHost(in_use);
  for (const DeviceAddress address : on_host_)
    problem_.Expect(may_be_there.contains(address), "a block moved that must not");
  CheckContents(in_use);
}

void SpillModel::Perform(const EndStep& /*i*/, const InUseBlocks& in_use) {
  Spill& spill = card_.allocator.movement().spill();
  const Bytes before = spill.on_host();
  const Spill::CameBack back = spill.EndStep();
  problem_.Expect(spill.on_host() == before - back.bytes - back.freed, "another amount came back");
  FindOnHost(in_use);
  CheckContents(in_use);
}

void SpillModel::FindOnHost(const InUseBlocks& in_use) {
  on_host_.clear();
  if (card_.vmm.on_host() == 0) return;
  for (const auto& [address, block] : in_use) {
    const auto chunks = card_.allocator.sharing().ChunksUnder(address);
    problem_.Expect(chunks.ok(), "a block in use has no chunks");
    if (chunks.ok() && std::any_of(chunks->begin(), chunks->end(),
                                   [](const MappedChunk& chunk) { return chunk.is_on_host; }))
      on_host_.insert(address);
  }
}

void SpillModel::CheckContents(const InUseBlocks& in_use) {
  for (const auto& [address, block] : in_use) {
    const bool is_known = block.contents != InUse::kUnknown;
    if (!is_known || !MayMove(block) || !HasMemory(block)) continue;
    for (const DeviceAddress at : {address, address + (block.bytes - 1)})
      problem_.Expect(card_.contents.At(at.value()) == block.contents, "the move lost contents");
  }
}

}  // namespace memtrace::program
