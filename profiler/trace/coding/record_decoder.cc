// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/coding/record_decoder.h"

#include <array>
#include <utility>
#include <variant>

namespace memtrace::trace {
namespace {

constexpr auto kFirstEvent = static_cast<size_t>(RecordKind::kFirstEvent);
constexpr size_t kEventKinds = std::variant_size_v<Payload>;

template <size_t kIndex>
void DecodeAlternative(RecordDecoder& decoder, Payload& payload) {
  CodeFields(decoder, payload.emplace<kIndex>());
}

using DecodeFunction = void (*)(RecordDecoder&, Payload&);
template <size_t... kIndex>
constexpr std::array<DecodeFunction, kEventKinds> Table(std::index_sequence<kIndex...>) {
  return {&DecodeAlternative<kIndex>...};
}
constexpr auto kDecode = Table(std::make_index_sequence<kEventKinds>());

// A kind is an index in Payload: alternatives may be appended, but never moved.
static_assert(std::is_same_v<std::variant_alternative_t<0, Payload>, Allocate>);
static_assert(std::is_same_v<std::variant_alternative_t<5, Payload>, Unmap>);
static_assert(std::is_same_v<std::variant_alternative_t<10, Payload>, Annotate>);
static_assert(std::is_same_v<std::variant_alternative_t<13, Payload>, Lost>);
static_assert(std::is_same_v<std::variant_alternative_t<15, Payload>, OutsideFree>);
static_assert(std::is_same_v<std::variant_alternative_t<17, Payload>, Alive>);
static_assert(std::is_same_v<std::variant_alternative_t<18, Payload>, Activity>);
static_assert(std::is_same_v<std::variant_alternative_t<19, Payload>, Moved>);

}  // namespace

void RecordDecoder::Text(std::string_view& text) {
  uint64_t bytes = 0;
  if (!Varint(&bytes)) return;
  if (bytes > static_cast<uint64_t>(end_ - in_)) {
    in_ = nullptr;
    return;
  }
  text = std::string_view(reinterpret_cast<const char*>(in_), bytes);
  in_ += bytes;
}

bool IsKnownEvent(RecordKind kind) {
  const auto number = static_cast<size_t>(kind);
  return kind == RecordKind::kFreed ||
         (number >= kFirstEvent && number < kFirstEvent + kEventKinds);
}

RecordKind RestatedEvent(RecordKind kind) {
  const auto number = static_cast<size_t>(kind);
  constexpr auto kFirst = static_cast<size_t>(RecordKind::kFirstRestated);
  if (number < kFirst || number >= kFirst + kEventKinds) return RecordKind::kNone;
  return static_cast<RecordKind>(number - kFirst + kFirstEvent);
}

// Most events are allocations and frees, which bypass the table.
bool DecodeEvent(const RawRecord& record, DeltaState& delta, Event* event) {
  if (!IsKnownEvent(record.kind)) return false;
  RecordDecoder decoder(record, delta);
  decoder.Moment(event->sequence, event->time_ns);
  if (record.kind == RecordKind::kFreed) {
    FreeRequested& freed = event->payload.emplace<FreeRequested>();
    decoder.Place(freed.device, freed.address);
    ++delta.sequence;
  } else if (record.kind == KindOf<Allocate>()) {
    CodeFields(decoder, event->payload.emplace<Allocate>());
  } else {
    kDecode[static_cast<size_t>(record.kind) - kFirstEvent](decoder, event->payload);
  }
  return decoder.ok();
}

void Complete(Event* free_requested) {
  const FreeRequested freed = std::get<FreeRequested>(free_requested->payload);
  ++free_requested->sequence;
  free_requested->payload.emplace<FreeCompleted>() = {freed.device, freed.address};
}

}  // namespace memtrace::trace
