// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/record_decoder.h"

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

// A kind is its place in Payload: alternatives may be appended, never moved.
static_assert(std::is_same_v<std::variant_alternative_t<0, Payload>, Allocate>);
static_assert(std::is_same_v<std::variant_alternative_t<5, Payload>, Unmap>);
static_assert(std::is_same_v<std::variant_alternative_t<10, Payload>, Annotate>);
static_assert(std::is_same_v<std::variant_alternative_t<13, Payload>, Lost>);
static_assert(std::is_same_v<std::variant_alternative_t<15, Payload>, OutsideFree>);
static_assert(std::is_same_v<std::variant_alternative_t<17, Payload>, Alive>);
static_assert(std::is_same_v<std::variant_alternative_t<18, Payload>, Activity>);

}  // namespace

std::optional<RawRecord> NextRecord(const uint8_t* in, const uint8_t* limit) {
  if (in >= limit || *in == 0) return std::nullopt;
  RawRecord record{.kind = static_cast<RecordKind>(*in)};
  uint64_t length = 0;
  record.body = GetVarint(in + 1, limit, &length);
  if (record.body == nullptr) return std::nullopt;
  if (length > static_cast<uint64_t>(limit - record.body)) return std::nullopt;
  record.end = record.body + length;
  return record;
}

void RecordDecoder::Place(int32_t& device, uint64_t& address) {
  uint64_t device_and_how = 0;
  uint64_t coded = 0;
  if (!Varint(&device_and_how) || !Varint(&coded)) return;
  auto distance = static_cast<uint64_t>(UnZigZag(coded));
  if ((device_and_how & 1) == 0) distance <<= 9;
  const bool from_far = (device_and_how & 2) != 0;
  AssignDevice(device, device_and_how >> 2);
  address = (from_far ? delta_.far : delta_.address) + distance;
  delta_.Went(address, from_far, static_cast<int64_t>(distance));
}

void RecordDecoder::AssignDevice(int32_t& device, uint64_t value) {
  if (value > std::numeric_limits<uint32_t>::max()) {
    in_ = nullptr;
    return;
  }
  device = static_cast<int32_t>(UnZigZag(value));
}

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

bool DecodeEvent(const RawRecord& record, DeltaState& delta, Event* event) {
  if (!IsKnownEvent(record.kind)) return false;
  RecordDecoder decoder(record, delta);
  decoder.Moment(event->sequence, event->time_ns);
  if (record.kind == RecordKind::kFreed) {
    FreeRequested& freed = event->payload.emplace<FreeRequested>();
    decoder.Place(freed.device, freed.address);
    ++delta.sequence;
    return decoder.ok();
  }
  kDecode[static_cast<size_t>(record.kind) - kFirstEvent](decoder, event->payload);
  return decoder.ok();
}

Event CompletionOf(const Event& free_requested) {
  const auto& freed = std::get<FreeRequested>(free_requested.payload);
  return {.sequence = free_requested.sequence + 1,
          .time_ns = free_requested.time_ns,
          .payload = FreeCompleted{.device = freed.device, .address = freed.address}};
}

}  // namespace memtrace::trace
