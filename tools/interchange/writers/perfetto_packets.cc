// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/perfetto_packets.h"

#include "protozero/pbf_writer.hpp"
#include "tools/interchange/writers/rows/event_detail.h"

namespace memtrace::interchange {
namespace {

using protozero::pbf_writer;
using Tag = protozero::pbf_tag_type;

// Field numbers of the messages in protos/perfetto/trace.
constexpr Tag kTracePacket = 1;

constexpr Tag kPacketClockSnapshot = 6;
constexpr Tag kPacketTimestamp = 8;
constexpr Tag kPacketSequenceId = 10;
constexpr Tag kPacketTrackEvent = 11;
constexpr Tag kPacketInternedData = 12;
constexpr Tag kPacketSequenceFlags = 13;
constexpr Tag kPacketTrackDescriptor = 60;

constexpr Tag kTrackUuid = 1;
constexpr Tag kTrackName = 2;
constexpr Tag kTrackProcess = 3;
constexpr Tag kTrackParent = 5;
constexpr Tag kTrackCounter = 8;
constexpr Tag kProcessPid = 1;
constexpr Tag kProcessName = 6;
constexpr Tag kCounterUnit = 3;

constexpr Tag kEventType = 9;
constexpr Tag kEventNameIid = 10;
constexpr Tag kEventTrack = 11;
constexpr Tag kEventCounterValue = 30;
constexpr Tag kEventAnnotation = 4;
constexpr Tag kAnnotationInteger = 4;
constexpr Tag kAnnotationText = 6;
constexpr Tag kAnnotationName = 10;

constexpr Tag kInternedEventName = 2;
constexpr Tag kEventNameId = 1;
constexpr Tag kEventNameText = 2;

constexpr Tag kSnapshotClock = 1;
constexpr Tag kClockId = 1;
constexpr Tag kClockTimestamp = 2;

constexpr uint32_t kRealtime = 1;
constexpr uint32_t kBoottime = 6;  // what timestamps are in unless they say otherwise

constexpr int32_t kUnitBytes = 3;
constexpr uint32_t kStateCleared = 1;
constexpr uint32_t kNeedsState = 2;
constexpr uint32_t kOurSequence = 1;

enum EventType : int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };

std::string EventOf(EventType type, PerfettoTrack track) {
  std::string bytes;
  pbf_writer event(bytes);
  event.add_enum(kEventType, type);
  event.add_uint64(kEventTrack, track);
  return bytes;
}

}  // namespace

PerfettoPackets::PerfettoPackets(ByteSink& sink, int64_t process, std::string_view name,
                                 uint64_t started_unix_ns)
    : sink_(sink) {
  if (started_unix_ns != 0) AddClocks(started_unix_ns);
  AddProcess(process, name);
}

void PerfettoPackets::Emit(const std::string& packet) {
  std::string bytes;
  pbf_writer trace(bytes);
  trace.add_message(kTracePacket, packet);
  sink_.Write(bytes);
}

void PerfettoPackets::AddClocks(uint64_t started_unix_ns) {
  std::string packet;
  {
    pbf_writer writer(packet);
    pbf_writer snapshot(writer, kPacketClockSnapshot);
    for (const auto& [id, at] :
         {std::pair(kBoottime, uint64_t{0}), std::pair(kRealtime, started_unix_ns)}) {
      pbf_writer clock(snapshot, kSnapshotClock);
      clock.add_uint32(kClockId, id);
      clock.add_uint64(kClockTimestamp, at);
    }
  }
  Emit(packet);
}

void PerfettoPackets::AddProcess(int64_t process, std::string_view name) {
  std::string packet;
  {
    pbf_writer writer(packet);
    pbf_writer track(writer, kPacketTrackDescriptor);
    track.add_uint64(kTrackUuid, process_track_);
    pbf_writer description(track, kTrackProcess);
    description.add_int32(kProcessPid, static_cast<int32_t>(process));
    description.add_string(kProcessName, ValidUtf8(name));
  }
  Emit(packet);
}

PerfettoTrack PerfettoPackets::AddGroup(std::string_view name) { return AddTrack(name); }

PerfettoTrack PerfettoPackets::AddTrack(std::string_view name, PerfettoTrack group) {
  std::string packet;
  {
    pbf_writer writer(packet);
    pbf_writer track(writer, kPacketTrackDescriptor);
    track.add_uint64(kTrackUuid, ++latest_track_);
    track.add_string(kTrackName, ValidUtf8(name));
    track.add_uint64(kTrackParent, group != 0 ? group : process_track_);
  }
  Emit(packet);
  return latest_track_;
}

PerfettoTrack PerfettoPackets::AddByteCounter(std::string_view name, PerfettoTrack group) {
  std::string packet;
  {
    pbf_writer writer(packet);
    pbf_writer track(writer, kPacketTrackDescriptor);
    track.add_uint64(kTrackUuid, ++latest_track_);
    track.add_string(kTrackName, ValidUtf8(name));
    track.add_uint64(kTrackParent, group);
    pbf_writer counter(track, kTrackCounter);
    counter.add_enum(kCounterUnit, kUnitBytes);
  }
  Emit(packet);
  return latest_track_;
}

std::pair<uint64_t, std::string> PerfettoPackets::Intern(std::string_view name) {
  const auto [entry, is_new] = names_.try_emplace(std::string(name), names_.size() + 1);
  std::string definition;
  if (is_new) {
    pbf_writer interned(definition);
    pbf_writer text(interned, kInternedEventName);
    text.add_uint64(kEventNameId, entry->second);
    text.add_string(kEventNameText, ValidUtf8(name));
  }
  return {entry->second, definition};
}

void PerfettoPackets::AddEvent(uint64_t time_ns, std::string_view name, const std::string& event) {
  std::string packet;
  std::string whole = event;
  pbf_writer writer(packet);
  writer.add_uint64(kPacketTimestamp, time_ns);
  writer.add_uint32(kPacketSequenceId, kOurSequence);
  writer.add_uint32(kPacketSequenceFlags, first_ ? kStateCleared | kNeedsState : kNeedsState);
  first_ = false;
  if (!name.empty()) {
    const auto [id, definition] = Intern(name);
    if (!definition.empty()) writer.add_message(kPacketInternedData, definition);
    pbf_writer(whole).add_uint64(kEventNameIid, id);
  }
  writer.add_message(kPacketTrackEvent, whole);
  Emit(packet);
}

void PerfettoPackets::Count(uint64_t time_ns, PerfettoTrack counter, uint64_t value) {
  std::string event = EventOf(kCounter, counter);
  pbf_writer(event).add_int64(kEventCounterValue, static_cast<int64_t>(value));
  AddEvent(time_ns, "", event);
}

void PerfettoPackets::Begin(uint64_t time_ns, PerfettoTrack track, std::string_view name) {
  AddEvent(time_ns, name, EventOf(kSliceBegin, track));
}

void PerfettoPackets::End(uint64_t time_ns, PerfettoTrack track) {
  AddEvent(time_ns, "", EventOf(kSliceEnd, track));
}

void PerfettoPackets::Instant(uint64_t time_ns, PerfettoTrack track, std::string_view name,
                              const PerfettoArguments& arguments) {
  std::string event = EventOf(kInstant, track);
  pbf_writer writer(event);
  for (const auto& [key, value] : arguments) {
    pbf_writer annotation(writer, kEventAnnotation);
    annotation.add_string(kAnnotationName, key);
    if (const auto* number = std::get_if<int64_t>(&value)) {
      annotation.add_int64(kAnnotationInteger, *number);
    } else {
      annotation.add_string(kAnnotationText, ValidUtf8(std::get<std::string>(value)));
    }
  }
  AddEvent(time_ns, name, event);
}

}  // namespace memtrace::interchange
