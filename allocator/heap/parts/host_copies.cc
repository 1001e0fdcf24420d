// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/parts/host_copies.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "allocator/blocks/size_policy.h"
#include "base/status_macros.h"

namespace memtrace {
namespace {

// The unit in which a small piece is taken.
constexpr Bytes kUnit = 2_MiB;

Bytes SumOf(const std::vector<AddressRange>& ranges) {
  Bytes sum = 0;
  for (const AddressRange& range : ranges) sum += range.size();
  return sum;
}

// A part of a copy that lies in one range of the card and in one piece of the host.
struct Part {
  DeviceAddress card;
  uint64_t host;
  Bytes bytes;
};

// Calls `visit(part)` for each part of the copy, until it fails.
template <typename Visit>
absl::Status ForEachPart(const HostCopies::Copy& copy, Visit visit) {
  auto piece = copy.pieces.begin();
  Bytes used = 0;  // of the piece
  for (const AddressRange& range : copy.ranges) {
    for (DeviceAddress at = range.begin; at < range.end;) {
      if (used == piece->size) {
        ++piece;
        used = 0;
      }
      const Bytes bytes = std::min(range.end - at, piece->size - used);
      MEMTRACE_RETURN_IF_ERROR(visit(Part{at, piece->address + used, bytes}));
      at += bytes;
      used += bytes;
    }
  }
  return absl::OkStatus();
}

}  // namespace

HostCopies::~HostCopies() { ReleasePool(); }

absl::StatusOr<HostCopies::Copy> HostCopies::Save(const std::vector<AddressRange>& ranges) {
  if (copies_ == nullptr) return absl::UnimplementedError("this card has no copies to the host");
  Copy copy{.ranges = ranges, .pieces = {}};
  absl::Status status = TakePieces(SumOf(ranges), copy);
  if (status.ok()) status = SaveInto(copy);
  if (status.ok()) return copy;
  Drop(copy);
  return status;
}

absl::Status HostCopies::TakePieces(Bytes bytes, Copy& copy) {
  if (bytes > left()) return absl::ResourceExhaustedError("the limit of the host's memory");
  for (Bytes taken = 0; taken < bytes;) {
    HostPiece piece;
    if (!pool_.empty()) {
      piece = pool_.back();
      pool_.pop_back();
      account_.pooled -= piece.size;
    } else {
      MEMTRACE_ASSIGN_OR_RETURN(const auto fresh, copies_->TakeHostMemory(std::min(
                                                      kPiece, RoundUp(bytes - taken, kUnit))));
      piece = fresh;
    }
    copy.pieces.push_back(piece);
    copy.is_pinned = copy.is_pinned && piece.is_pinned;
    account_.copies += piece.size;
    taken += piece.size;
  }
  return absl::OkStatus();
}

absl::Status HostCopies::SaveInto(const Copy& copy) {
  const absl::Status queued = ForEachPart(
      copy, [&](const Part& part) { return copies_->ToHost(part.card, part.host, part.bytes); });
  absl::Status waited = copies_->Wait();  // also after a failure: the pieces are reused
  return queued.ok() ? waited : queued;
}

absl::Status HostCopies::Restore(const Copy& copy, const std::vector<AddressRange>& wanted) {
  if (copies_ == nullptr) return absl::OkStatus();
  auto next = wanted.begin();
  const absl::Status queued = ForEachPart(copy, [&](const Part& part) -> absl::Status {
    const DeviceAddress end = part.card + part.bytes;
    while (next != wanted.end() && next->end <= part.card) ++next;
    for (auto one = next; one != wanted.end() && one->begin < end; ++one) {
      const DeviceAddress from = std::max(one->begin, part.card);
      const DeviceAddress to = std::min(one->end, end);
      MEMTRACE_RETURN_IF_ERROR(copies_->ToCard(part.host + (from - part.card), from, to - from));
    }
    return absl::OkStatus();
  });
  absl::Status waited = copies_->Wait();
  return queued.ok() ? waited : queued;
}

bool HostCopies::Read(const Copy& copy, const AddressRange& range, void* to) {
  Bytes read = 0;
  ForEachPart(copy, [&](const Part& part) {
    const DeviceAddress from = std::max(part.card, range.begin);
    const DeviceAddress end = std::min(part.card + part.bytes, range.end);
    if (from >= end) return absl::OkStatus();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses of the host are numbers here
    const void* piece = reinterpret_cast<const void*>(part.host + (from - part.card));
    std::memcpy(static_cast<char*>(to) + (from - range.begin), piece, end - from);
    read += end - from;
    return absl::OkStatus();
  }).IgnoreError();
  return read == range.size();
}

absl::Status HostCopies::Clear(const std::vector<AddressRange>& ranges) {
  if (copies_ == nullptr) return absl::OkStatus();
  absl::Status queued;
  for (const AddressRange& range : ranges) {
    if (queued.ok()) queued = copies_->Clear(range.begin, range.size());
  }
  absl::Status waited = copies_->Wait();
  return queued.ok() ? waited : queued;
}

void HostCopies::Drop(const Copy& copy) {
  for (const HostPiece& piece : copy.pieces) {
    account_.copies -= piece.size;
    account_.pooled += piece.size;
    pool_.push_back(piece);
  }
}

Bytes HostCopies::ReleasePool() {
  for (const HostPiece& piece : std::exchange(pool_, {})) copies_->GiveHostMemoryBack(piece);
  return std::exchange(account_.pooled, 0);
}

}  // namespace memtrace
