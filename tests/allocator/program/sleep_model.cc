// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/allocator/program/sleep_model.h"

namespace memtrace::program {

void SleepModel::Perform(const PutToSleep& i, bool is_any_captured) {
  const uint64_t failed = card_.failures.failed();
  const bool was_asleep = IsAsleep(i.owner);
  Sleep::Moved moved;
  const absl::Status status = card_.allocator.movement().sleep().PutToSleep(
      MovableOwner{i.owner}, i.is_kept ? Sleep::Keep::kHost : Sleep::Keep::kNothing, moved);
  const bool is_asleep = IsReallyAsleep(i.owner);
  problem_.Expect(is_asleep || !was_asleep, "a sleep has woken it");
  if (is_asleep && !was_asleep) asleep_[i.owner] = i.is_kept;
  if (failed != card_.failures.failed()) return;
  // A sleep that goes on after a failed one succeeds.
  const bool is_refused = was_asleep || is_any_captured || absl::IsNotFound(status) ||
                          (absl::IsResourceExhausted(status) && moved.needed > moved.available);
  problem_.Expect(status.ok() || is_refused, "sleep failed");
  problem_.Expect(!status.ok() || is_asleep, "not asleep");
}

void SleepModel::Perform(const Wake& i, InUseBlocks& in_use) {
  const uint64_t failed = card_.failures.failed();
  Sleep::Moved moved;
  const absl::Status status = card_.allocator.movement().sleep().Wake(MovableOwner{i.owner}, moved);
  problem_.Expect(IsReallyAsleep(i.owner) == (IsAsleep(i.owner) && !status.ok()),
                  "state after a wake");
  if (status.ok()) {
    CheckContents(i.owner, asleep_.at(i.owner), in_use);
    asleep_.erase(i.owner);
  } else if (failed == card_.failures.failed() && IsAsleep(i.owner)) {
    problem_.Expect(absl::IsResourceExhausted(status) && moved.needed > moved.available,
                    "wake failed");
  }
}

bool SleepModel::IsReallyAsleep(uint32_t owner) {
  for (const Sleep::Owner& one : card_.allocator.movement().sleep().owners()) {
    if (one.owner == MovableOwner{owner}) return one.is_asleep;
  }
  return false;
}

void SleepModel::CheckContents(uint32_t owner, bool is_kept, InUseBlocks& in_use) {
  for (auto& [address, block] : in_use) {
    if (block.owner != owner) continue;
    if (!is_kept) block.contents = MemoryContents::kZeros;
    if (block.contents == InUse::kUnknown) continue;
    for (const DeviceAddress at : {address, address + (block.bytes - 1)})
      problem_.Expect(card_.contents.At(at.value()) == block.contents, "other contents");
  }
}

}  // namespace memtrace::program
