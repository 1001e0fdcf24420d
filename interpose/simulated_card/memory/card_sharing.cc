// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/card_sharing.h"

#include <unistd.h>

namespace memtrace::card {

std::optional<std::uint64_t> CardSharing::Hold(std::uint64_t bytes, std::uint64_t room) const {
  return shared_ == nullptr ? std::optional<std::uint64_t>(0) : shared_->Hold(index_, bytes, room);
}

std::uint64_t CardSharing::HeldByOthers() const {
  return shared_ == nullptr ? 0 : shared_->HeldByOthers(index_);
}

std::vector<ProcessMemory> CardSharing::OtherProcesses() const {
  return shared_ == nullptr ? std::vector<ProcessMemory>() : shared_->OtherProcesses(index_);
}

int CardSharing::Lend(const SharedMemoryRecord& record) const {
  return shared_ != nullptr ? shared_->Lend(record) : MakeShareableDescriptor(record);
}

bool CardSharing::Reclaim(const SharedMemoryRecord& record, int descriptor) const {
  if (shared_ != nullptr) return shared_->Reclaim(record, descriptor);
  close(descriptor);
  return false;  // another process's part cannot be determined
}

}  // namespace memtrace::card
