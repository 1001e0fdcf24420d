// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/address_space.h"

#include <algorithm>
#include <iterator>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

bool IsPowerOfTwo(std::uint64_t value) { return value > 0 && (value & (value - 1)) == 0; }

// Cannot overflow, because begin and bytes come unchecked from the caller.
bool Fits(const AddressRanges::Range& range, Address begin, std::uint64_t bytes) {
  return begin >= range.begin && begin - range.begin <= range.bytes &&
         bytes <= range.bytes - (begin - range.begin);
}

// Returns the cards of the mask, with this one or without it.
std::uint32_t CardsWith(std::uint32_t cards, int device, bool is_in) {
  const std::uint32_t bit = 1u << device;
  return is_in ? cards | bit : cards & ~bit;
}

constexpr std::uint64_t kHeapOfACard = (AddressRanges::kEnd - AddressRanges::kHeap) / kMaxCards;

constexpr std::size_t CardOfHeap(Address address) {
  return static_cast<std::size_t>((address - AddressRanges::kHeap) / kHeapOfACard);
}

}  // namespace

void AddressSpace::Mapping::SetAccess(int device, Access access) {
  readable_by = CardsWith(readable_by, device, access != Access::kNone);
  writable_by = CardsWith(writable_by, device, access == Access::kReadWrite);
}

Access AddressSpace::Mapping::AccessOf(int device) const {
  const std::uint32_t bit = 1u << device;
  if ((writable_by & bit) != 0) return Access::kReadWrite;
  return (readable_by & bit) != 0 ? Access::kRead : Access::kNone;
}

bool AddressSpace::Mapping::Allows(Access least) const {
  return (least == Access::kReadWrite ? writable_by : readable_by) != 0;
}

AddressSpace::AddressSpace(const Cards& cards, PhysicalMemory& physical)
    : cards_(cards), physical_(physical) {
  for (std::size_t card = 0; card < cards.size(); ++card) {
    const Address begin = AddressRanges::kHeap + card * kHeapOfACard;
    heaps_.emplace_back(begin, begin + kHeapOfACard);
  }
}

Result AddressSpace::ReserveForHeap(int device, std::uint64_t bytes, Address* begin) {
  const auto card = static_cast<std::size_t>(device);
  if (cards_[card]->Spec().addresses_ascend) return Reserve(bytes, kGranularity, Address(), begin);
  const MutexLock lock(mutex_);
  const Address taken = heaps_[card].Take(bytes);
  if (taken.is_null()) return Result::kOutOfMemory;
  reservations_.AddHeap(taken, bytes);
  *begin = taken;
  return Result::kSuccess;
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as cuMemAddressReserve has them.
Result AddressSpace::Reserve(std::uint64_t bytes, std::uint64_t alignment, Address hint,
                             Address* begin) {
  if (!IsWholeGranules(bytes) || (alignment != 0 && !IsPowerOfTwo(alignment)))
    return Result::kInvalidValue;
  const std::uint64_t aligned_to = std::max(alignment, kGranularity);
  const MutexLock lock(mutex_);
  if (!hint.is_null() && hint.value() % aligned_to == 0 && reservations_.TakeAt(hint, bytes)) {
    *begin = hint;
    return Result::kSuccess;
  }
  const Address taken = reservations_.Take(bytes, aligned_to);
  if (taken.is_null()) return Result::kOutOfMemory;
  *begin = taken;
  return Result::kSuccess;
}

Result AddressSpace::FreeReservation(Address begin, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const AddressRanges::Range range = reservations_.Find(begin);
  if (range.begin != begin || range.bytes != bytes || bytes == 0) return Result::kInvalidValue;
  if (AnyMappingIn(begin, bytes)) return Result::kInvalidValue;
  reservations_.GiveBack(begin);
  hollows_.Remove(begin, bytes);
  if (begin >= AddressRanges::kHeap) heaps_[CardOfHeap(begin)].GiveBack(begin, bytes);
  return Result::kSuccess;
}

Result AddressSpace::RetainAt(Address address, HandleId* handle) {
  const MutexLock lock(mutex_);
  const auto mapping = MappingAt(address);
  if (mapping == mappings_.end()) return Result::kInvalidValue;
  *handle = mapping->second.handle;
  return physical_.Retain(*handle);
}

Result AddressSpace::DescribeAt(Address address, SharedMemoryRecord* record) {
  const MutexLock lock(mutex_);
  const auto mapping = MappingAt(address);
  if (mapping == mappings_.end()) return Result::kInvalidValue;
  const Result result = physical_.Describe(mapping->second.handle, record);
  record->block = static_cast<std::uint32_t>(address - mapping->first);
  return result;
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as cuMemMap has them.
Result AddressSpace::Map(Address begin, std::uint64_t bytes, std::uint64_t offset,
                         HandleId handle) {
  const MutexLock lock(mutex_);
  if (begin.value() % kGranularity != 0 || !Fits(reservations_.Find(begin), begin, bytes))
    return Result::kInvalidValue;
  Mapping mapping;
  mapping.handle = handle;
  Result result = physical_.AddMapping(handle, &mapping.backing);
  if (result != Result::kSuccess) return result;
  if (offset != 0 || bytes != mapping.bytes()) {
    result = Result::kNotSupported;
  } else if (AnyMappingIn(begin, bytes)) {
    result = Result::kInvalidValue;
  }
  if (result == Result::kSuccess) {
    mappings_.emplace(begin, mapping);
    hollows_.Remove(begin, bytes);
  } else {
    physical_.RemoveMapping(handle);
  }
  return result;
}

Result AddressSpace::Unmap(Address begin, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  if (!CoversWholeMappings(begin, bytes)) return Result::kInvalidValue;
  const auto first = mappings_.find(begin);
  const ChargeKind kind = first->second.backing.kind;
  if (kind == ChargeKind::kVmm || kind == ChargeKind::kHost) hollows_.Add(begin, bytes);
  auto last = first;
  for (; last != mappings_.end() && last->first < begin + bytes; ++last) {
    physical_.RemoveMapping(last->second.handle);
  }
  mappings_.erase(first, last);
  return Result::kSuccess;
}

Result AddressSpace::SetAccess(Address begin, std::uint64_t bytes, int device, Access access) {
  if (!HasCard(device)) return Result::kInvalidDevice;
  const MutexLock lock(mutex_);
  if (!CoversWholeMappings(begin, bytes)) return Result::kInvalidValue;
  for (auto at = mappings_.find(begin); at != mappings_.end() && at->first < begin + bytes; ++at)
    at->second.SetAccess(device, access);
  return Result::kSuccess;
}

Result AddressSpace::GetAccess(Address address, int device, Access* access) const {
  if (!HasCard(device)) return Result::kInvalidDevice;
  const MutexLock lock(mutex_);
  const auto mapping = MappingAt(address);
  if (mapping == mappings_.end()) return Result::kInvalidValue;
  *access = mapping->second.AccessOf(device);
  return Result::kSuccess;
}

std::optional<MappedRange> AddressSpace::Find(Address address) const {
  const MutexLock lock(mutex_);
  const auto mapping = MappingAt(address);
  if (mapping == mappings_.end()) return std::nullopt;
  return Describe(mapping);
}

std::vector<MappedRange> AddressSpace::MappingsIn(Address begin, std::uint64_t bytes) const {
  const MutexLock lock(mutex_);
  std::vector<MappedRange> found;
  auto at = MappingAt(begin);
  if (at == mappings_.end()) at = mappings_.lower_bound(begin);
  for (; at != mappings_.end() && at->first < begin + bytes; ++at) found.push_back(Describe(at));
  return found;
}

// Heap mappings are subtracted; each has a reservation and a handle of its own.
LiveMemory AddressSpace::Live() const {
  const MutexLock lock(mutex_);
  std::uint64_t of_heap = 0;
  for (auto at = mappings_.begin(); at != mappings_.end(); ++at) {
    if (at->second.backing.kind == ChargeKind::kRuntime) ++of_heap;
  }
  return {.handles = physical_.Count() - of_heap,
          .mappings = mappings_.size() - of_heap,
          .reservations = reservations_.Count() - of_heap};
}

MappedRange AddressSpace::Describe(Mappings::const_iterator mapping) {
  const Backing& backing = mapping->second.backing;
  return {.begin = mapping->first,
          .bytes = backing.contents.bytes,
          .handle = mapping->second.handle,
          .device = backing.device,
          .kind = backing.kind};
}

Result AddressSpace::Translate(Address begin, std::uint64_t bytes, Access least,
                               std::vector<Extent>* extents, std::uint64_t* on_host) const {
  const MutexLock lock(mutex_);
  if (reservations_.Find(begin).bytes == 0) return Result::kInvalidValue;
  while (bytes > 0) {
    const auto at = MappingAt(begin);
    if (at == mappings_.end()) return Result::kInvalidValue;
    const Mapping& mapping = at->second;
    if (!mapping.Allows(least)) return Result::kInvalidValue;
    const Extent& contents = mapping.backing.contents;
    const std::uint64_t into = begin - at->first;
    const std::uint64_t part = std::min(bytes, contents.bytes - into);
    extents->push_back({contents.offset + into, part});
    if (on_host != nullptr && mapping.backing.kind == ChargeKind::kHost) *on_host += part;
    begin += part;
    bytes -= part;
  }
  return Result::kSuccess;
}

bool AddressSpace::HasCard(int device) const {
  return device >= 0 && static_cast<std::size_t>(device) < cards_.size();
}

AddressSpace::Mappings::const_iterator AddressSpace::MappingAt(Address address) const {
  const auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return mappings_.end();
  const auto before = std::prev(after);
  return address - before->first < before->second.bytes() ? before : mappings_.end();
}

// True for exactly a row of mappings without a gap, from the begin of the first to the end of the
// last.
bool AddressSpace::CoversWholeMappings(Address begin, std::uint64_t bytes) const {
  if (bytes == 0 || !Fits(reservations_.Find(begin), begin, bytes)) return false;
  Address expected = begin;
  for (auto at = mappings_.find(begin); expected < begin + bytes; ++at) {
    if (at == mappings_.end() || at->first != expected) return false;
    expected += at->second.bytes();
  }
  return expected == begin + bytes;
}

bool AddressSpace::AnyMappingIn(Address begin, std::uint64_t bytes) const {
  if (MappingAt(begin) != mappings_.end()) return true;
  const auto next = mappings_.lower_bound(begin);
  return next != mappings_.end() && next->first < begin + bytes;
}

}  // namespace memtrace::card
