// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_CODING_EVENT_FIELDS_H_
#define MEMTRACE_PROFILER_TRACE_CODING_EVENT_FIELDS_H_

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "base/units.h"
#include "profiler/trace/coding/format.h"
#include "profiler/trace/coding/varint.h"
#include "profiler/trace/events/event.h"

// The fields of every record body, in order, in one place for both directions: `Coder` is the
// encoder (fields are const) or the decoder (fields are assigned). Both have
//   Number(field)                unsigned, or an enum of one
//   Place(device, address)       a device and an address near the last one
//   Flags({bool...}) -> mask     which of the following fields differ from their expected value
//   Unless(mask, bit, field, expected)   the field if its bit is set, otherwise `expected`
//   Near(field, other)           unsigned, mostly close to `other`
//   List(vector, most)           a count, then that many items; at most `most`
//   delta()                      the state that earlier records of the block left

namespace memtrace::trace {

// The state restarts in each block, so that a damaged block affects no other.
struct DeltaState {
  uint64_t sequence = 0;
  uint64_t time_ns = 0;
  uint64_t address = 0;  // the latest address
  uint64_t far = 0;      // the latest one before a jump: small and large blocks lie far apart
  Allocate
      last{};  // stream, pool, stack, owner and module are mostly those of the allocation before
  Activity last_activity{};  // also mostly repeated
  Relabel last_label{};      // also repeated; paths mostly count up

  // Updates the state after an address that was coded as its `distance` from one of the two,
  // equally in encoder and decoder.
  void UpdateAddress(uint64_t to, bool from_far, int64_t distance) {
    if (from_far || ZigZag(distance) >= kJump) far = address;
    address = to;
  }

 private:
  static constexpr uint64_t kJump = uint64_t{1} << 33;  // 4 GiB in either direction
};

// Returns the kind of an event: kFirstEvent plus the index of its struct in Payload.
template <typename E, size_t kPlace = 0>
constexpr RecordKind KindOf() {
  if constexpr (std::same_as<E, std::variant_alternative_t<kPlace, Payload>>) {
    return static_cast<RecordKind>(static_cast<size_t>(RecordKind::kFirstEvent) + kPlace);
  } else {
    return KindOf<E, kPlace + 1>();
  }
}

// Returns the kind of a restated event.
template <typename E>
constexpr RecordKind RestatedKindOf() {
  return static_cast<RecordKind>(static_cast<size_t>(KindOf<E>()) +
                                 static_cast<size_t>(RecordKind::kFirstRestated) -
                                 static_cast<size_t>(RecordKind::kFirstEvent));
}

template <typename E, typename T>
concept MaybeConst = std::same_as<std::remove_const_t<E>, T>;

// Returns a request rounded to 512 bytes, the usual case, in which `allocated` takes no space.
constexpr uint64_t UsualRounding(uint64_t requested) { return RoundUp(requested, 512); }

template <typename Coder, MaybeConst<Allocate> E>
void CodeFields(Coder& coder, E& event) {
  Allocate& last = coder.delta().last;
  coder.Place(event.device, event.address);
  coder.Number(event.requested);
  const uint64_t usual = UsualRounding(event.requested);
  const uint64_t present = coder.Flags({event.allocated != usual, event.stream != last.stream,
                                        event.pool != last.pool, event.stack != last.stack,
                                        event.owner != last.owner, event.module != last.module});
  coder.Unless(present, 0, event.allocated, usual);
  coder.Unless(present, 1, event.stream, last.stream);
  coder.Unless(present, 2, event.pool, last.pool);
  coder.Unless(present, 3, event.stack, last.stack);
  coder.Unless(present, 4, event.owner, last.owner);
  coder.Unless(present, 5, event.module, last.module);
  last = event;
}

template <typename Coder, typename E>
requires MaybeConst<E, FreeRequested> || MaybeConst<E, FreeCompleted>
void CodeFields(Coder& coder, E& event) { coder.Place(event.device, event.address); }

template <typename Coder, typename E>
requires MaybeConst<E, Reserve> || MaybeConst<E, Map>
void CodeFields(Coder& coder, E& event) {
  coder.Place(event.device, event.address);
  coder.Number(event.size);
  coder.Number(event.stream);
}

template <typename Coder, MaybeConst<Unmap> E>
void CodeFields(Coder& coder, E& event) {
  coder.Place(event.device, event.address);
  coder.Number(event.size);
}

template <typename Coder, MaybeConst<Relabel> E>
void CodeFields(Coder& coder, E& event) {
  Relabel& last = coder.delta().last_label;
  coder.Place(event.device, event.address);
  const uint64_t present = coder.Flags({event.size != 0, event.role != last.role,
                                        event.owner != last.owner, event.path != last.path + 1});
  coder.Unless(present, 0, event.size, uint64_t{0});
  coder.Unless(present, 1, event.role, last.role);
  coder.Unless(present, 2, event.owner, last.owner);
  coder.Unless(present, 3, event.path, last.path + 1);
  last = event;
}

template <typename Coder, MaybeConst<Step> E>
void CodeFields(Coder& coder, E& event) {
  coder.Number(event.number);
}

template <typename Coder, MaybeConst<PhaseChange> E>
void CodeFields(Coder& coder, E& event) {
  coder.Number(event.phase);
  coder.Appended(event.micro_batch);
}

template <typename Coder, MaybeConst<TagChange> E>
void CodeFields(Coder& coder, E& event) {
  coder.Number(event.thread);
  coder.Number(event.owner);
}

template <typename Coder, MaybeConst<Annotate> E>
void CodeFields(Coder& coder, E& event) {
  coder.Number(event.key);
  coder.Number(event.value);
}

// Later additions are at the end of the record, because there is no room between the items of a
// list.
template <typename Coder, MaybeConst<CardLedger> E>
void CodeFields(Coder& coder, E& card) {
  coder.Device(card.device);
  coder.Number(card.total);
  coder.Number(card.free);
  coder.Number(card.context);
  coder.Number(card.other_processes);
  coder.Number(card.outside_allocator);
  coder.Number(card.reserved);
  coder.Number(card.live_requested);
  coder.Number(card.live_allocated);
  coder.Number(card.stream_wait);
  coder.Number(card.cached);
  coder.Number(card.holes);
  coder.Number(card.largest_hole);
}

// Codes the figures that take nothing of the card.
template <typename Coder, MaybeConst<CardLedger> E>
void AppendOffCard(Coder& coder, E& card) {
  coder.Appended(card.asleep);
  coder.Appended(card.on_host);
  coder.Appended(card.host_copies);
  coder.Appended(card.host_pooled);
}

template <typename Coder, MaybeConst<OutOfMemory> E>
void CodeFields(Coder& coder, E& event) {
  coder.Device(event.device);
  coder.Number(event.stream);
  coder.Number(event.requested);
  coder.Number(event.allocated);
  coder.Number(event.obtainable);
  coder.Number(event.limit);
  coder.Number(event.stack);
  coder.Number(event.owner);
  coder.Number(event.module);
  coder.List(event.cards, kMaxCards);
  for (size_t i = 0; i < std::min(event.cards.size(), kMaxCards); ++i) {
    coder.Appended(event.cards[i].private_pools);
  }
  for (size_t i = 0; i < std::min(event.cards.size(), kMaxCards); ++i)
    AppendOffCard(coder, event.cards[i]);
}

template <typename Coder, MaybeConst<CardSample> E>
void CodeFields(Coder& coder, E& event) {
  CodeFields(coder, event.card);
  coder.Appended(event.card.private_pools);
  AppendOffCard(coder, event.card);
}

template <typename Coder, MaybeConst<Lost> E>
void CodeFields(Coder& coder, E& event) {
  coder.Number(event.events);
  coder.Number(event.reason);
}

template <typename Coder, MaybeConst<OutsideAllocate> E>
void CodeFields(Coder& coder, E& event) {
  coder.Place(event.device, event.address);
  coder.Number(event.bytes);
  coder.Number(event.kind);
  coder.Number(event.stack);
  coder.Number(event.owner);
  coder.Number(event.module);
}

template <typename Coder, MaybeConst<OutsideFree> E>
void CodeFields(Coder& coder, E& event) {
  coder.Place(event.device, event.address);
  coder.Number(event.kind);
}

template <typename Coder, MaybeConst<Resume> E>
void CodeFields(Coder& coder, E& event) {
  coder.Number(event.step);
  coder.Number(event.phase);
  coder.Number(event.forward_seen);
  coder.Number(event.micro_batch);
}

template <typename Coder, MaybeConst<Alive> E>
void CodeFields(Coder& coder, E& event) {
  CodeFields(coder, event.block);
  coder.Number(event.birth);
  coder.Number(event.step);
  coder.Number(event.phase);
  coder.Number(event.in_same_phase);
  coder.Number(event.waiting);
  coder.Number(event.role);
  coder.Number(event.path);
}

template <typename Coder, MaybeConst<Moved> E>
void CodeFields(Coder& coder, E& event) {
  coder.Device(event.device);
  coder.Number(event.kind);
  coder.Number(event.bytes);
  coder.Number(event.host_bytes);
  coder.Number(event.duration_ns);
  coder.Number(event.owner);
  coder.Number(event.to);
  coder.Number(event.stack);
}

template <typename Coder, MaybeConst<Activity> E>
void CodeFields(Coder& coder, E& event) {
  Activity& last = coder.delta().last_activity;
  const uint64_t present = coder.Flags(
      {event.kind != last.kind, event.device != last.device, event.stream != last.stream,
       event.name != last.name, event.bytes != 0, event.address != 0, event.block != last.block});
  coder.Near(event.start_ns, last.start_ns + last.duration_ns);
  coder.Number(event.duration_ns);
  coder.Unless(present, 0, event.kind, last.kind);
  coder.Unless(present, 1, event.device, last.device);
  coder.Unless(present, 2, event.stream, last.stream);
  coder.Unless(present, 3, event.name, last.name);
  coder.Unless(present, 4, event.bytes, uint64_t{0});
  coder.Unless(present, 5, event.address, uint64_t{0});
  coder.NearUnless(present, 6, event.block, last.block);
  last = event;
}

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_CODING_EVENT_FIELDS_H_
