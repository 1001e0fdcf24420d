// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/copies.h"

#include <algorithm>
#include <cstring>

#include "interpose/simulated_card/memory/reading_thread.h"

namespace memtrace::card {
namespace {

// The most bytes that are searched for unknown ones.
constexpr std::size_t kMostBytesLookedAt = 1 << 20;

bool IsZeroPattern(std::span<const std::byte> pattern) {
  return std::all_of(pattern.begin(), pattern.end(), [](std::byte b) { return b == std::byte{0}; });
}

// NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
std::byte* HostPointer(Address address) { return reinterpret_cast<std::byte*>(address.value()); }

}  // namespace

Result Copies::Check(Address to, Address from, std::uint64_t bytes) {
  if (bytes == 0) return Result::kSuccess;
  Side source;
  Side target;
  const Result result = Resolve(from, bytes, Access::kRead, &source);
  return result == Result::kSuccess ? Resolve(to, bytes, Access::kReadWrite, &target) : result;
}

Result Copies::Copy(Address to, Address from, std::uint64_t bytes) {
  if (bytes == 0) return Result::kSuccess;
  Side source;
  Side target;
  Result result = Resolve(from, bytes, Access::kRead, &source);
  if (result == Result::kSuccess) result = Resolve(to, bytes, Access::kReadWrite, &target);
  if (result != Result::kSuccess) return result;
  if (source.on_card && !target.on_card) ++device_to_host_;
  if (source.on_card != target.on_card) host_bytes_ += bytes;
  CountBus(target, source, bytes);
  const bool moved = bytes <= limit_ && Move(target, source, bytes);
  Note(target, source, moved);
  Count(moved, bytes);
  return Result::kSuccess;
}

Result Copies::Fill(Address to, std::uint64_t bytes, std::span<const std::byte> pattern) {
  if (bytes == 0) return Result::kSuccess;
  Side target;
  const Result result = Resolve(to, bytes, Access::kReadWrite, &target);
  if (result != Result::kSuccess) return result;
  if (!target.on_card) {
    for (std::uint64_t at = 0; at < bytes; at += pattern.size()) {
      std::memcpy(HostPointer(to) + at, pattern.data(), pattern.size());
    }
    return Result::kSuccess;
  }
  bus_bytes_ += target.on_host;
  const bool zero = IsZeroPattern(pattern);
  bool done = zero || bytes <= limit_;
  for (const Extent& extent : target.extents) {
    done = done && (zero ? file_.Clear(extent) : file_.Fill(extent, pattern));
  }
  if (known_ != nullptr) {
    ++ReadingThread().writes;
    known_->Set(target.extents, done ? Known::kKnown : Known::kUnknown);
  }
  Count(done, bytes);
  return Result::kSuccess;
}

Result Copies::Resolve(Address begin, std::uint64_t bytes, Access least, Side* side) {
  side->begin = begin;
  side->on_card = AddressRanges::Contains(begin);
  if (begin.is_null()) return Result::kInvalidValue;
  if (!side->on_card) return Result::kSuccess;
  const Result result = space_.Translate(begin, bytes, least, &side->extents, &side->on_host);
  if (result != Result::kSuccess) ++faults_;
  return result;
}

// A byte passes the bus if exactly one side of its copy is in the host's memory; if both sides have
// parts there, at least the difference does.
void Copies::CountBus(const Side& to, const Side& from, std::uint64_t bytes) {
  const std::uint64_t source = from.on_card ? from.on_host : bytes;
  const std::uint64_t target = to.on_card ? to.on_host : bytes;
  bus_bytes_ += source > target ? source - target : target - source;
}

bool Copies::Move(const Side& to, const Side& from, std::uint64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  if (!to.on_card && !from.on_card) {
    std::memmove(HostPointer(to.begin), HostPointer(from.begin), size);
    return true;
  }
  if (!from.on_card) return WriteAll(to, {HostPointer(from.begin), size});
  if (!to.on_card) return Deliver(from, {HostPointer(to.begin), size});
  return MoveOnCard(to, from);
}

// Delivers bytes to the host. Inside an operator, its caller knows their values better than the
// card does: the operator's kernels should have written them.
bool Copies::Deliver(const Side& from, std::span<std::byte> to) {
  if (known_ == nullptr) return ReadAll(from, to);
  struct memtrace_card_thread_state& thread = ReadingThread();
  if (thread.operators > 0 && thread.answer_bytes == to.size()) {
    std::memcpy(to.data(), &thread.answer, to.size());
    thread.answer_bytes = 0;
    return true;
  }
  const bool says = thread.operators > 0 && thread.delivers != MEMTRACE_CARD_BY_BYTE;
  const Known known = says ? static_cast<Known>(thread.delivers) : known_->Weakest(from.extents);
  ++thread.reads[static_cast<std::size_t>(known)];
  ++reads_[static_cast<std::size_t>(known)];
  if (thread.operators == 0 || known != Known::kUnknown) return ReadAll(from, to);
  if (says || to.size() > kMostBytesLookedAt) {
    std::memset(to.data(), 0, to.size());
    return true;
  }
  if (!ReadAll(from, to)) return false;
  ZeroUnknown(from, to);
  return true;
}

void Copies::ZeroUnknown(const Side& from, std::span<std::byte> to) const {
  std::vector<char> states(to.size());
  known_->Read(from.extents, states);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (states[i] == static_cast<char>(Known::kUnknown)) to[i] = std::byte{0};
  }
}

void Copies::Note(const Side& to, const Side& from, bool moved) {
  if (known_ == nullptr || !to.on_card) return;
  ++ReadingThread().writes;
  if (!moved) {
    known_->Forget(to.extents);
  } else if (from.on_card) {
    known_->Copy(to.extents, from.extents);
  } else {
    known_->Set(to.extents, Known::kKnown);
  }
}

// Both sides cover the same number of bytes, cut at different places.
bool Copies::MoveOnCard(const Side& to, const Side& from) {
  auto target = to.extents.begin();
  Extent room = target == to.extents.end() ? Extent{} : *target;
  for (Extent rest : from.extents) {
    while (rest.bytes > 0) {
      const std::uint64_t part = std::min(rest.bytes, room.bytes);
      if (!file_.CopyWithin(rest.offset, room.offset, part)) return false;
      rest = {rest.offset + part, rest.bytes - part};
      room = {room.offset + part, room.bytes - part};
      if (room.bytes == 0 && ++target != to.extents.end()) room = *target;
    }
  }
  return true;
}

bool Copies::ReadAll(const Side& from, std::span<std::byte> to) const {
  for (const Extent& extent : from.extents) {
    const auto part = static_cast<std::size_t>(extent.bytes);
    if (!file_.Read(extent.offset, to.first(part))) return false;
    to = to.subspan(part);
  }
  return true;
}

bool Copies::WriteAll(const Side& to, std::span<const std::byte> from) {
  for (const Extent& extent : to.extents) {
    const auto part = static_cast<std::size_t>(extent.bytes);
    if (!file_.Write(extent.offset, from.first(part))) return false;
    from = from.subspan(part);
  }
  return true;
}

void Copies::Count(bool done, std::uint64_t bytes) {
  if (done) {
    ++executed_;
  } else {
    ++dropped_;
    bytes_dropped_ += bytes;
  }
}

CopyCounts Copies::Counts() const {
  return {.executed = executed_,
          .dropped = dropped_,
          .bytes_dropped = bytes_dropped_,
          .device_to_host = device_to_host_,
          .host_bytes = host_bytes_,
          .bus_bytes = bus_bytes_,
          .faults = faults_};
}

}  // namespace memtrace::card
