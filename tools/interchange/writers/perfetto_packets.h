// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PERFETTO_PACKETS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PERFETTO_PACKETS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/interchange/writers/rows/byte_sink.h"

namespace memtrace::interchange {

using PerfettoTrack = uint64_t;
// The arguments that a click on an event shows.
using PerfettoArguments = std::vector<std::pair<std::string, std::variant<int64_t, std::string>>>;

// A Perfetto trace of TrackEvents (perfetto.dev, trace_packet.proto), packet by packet. Times are
// nanoseconds from the beginning of the trace. Names of events are interned.
class PerfettoPackets {
 public:
  // `process` is the number of the process on its host; `started_unix_ns` 0: not known.
  PerfettoPackets(ByteSink& sink, int64_t process, std::string_view name, uint64_t started_unix_ns);

  PerfettoTrack AddGroup(std::string_view name);  // of tracks, below the process
  PerfettoTrack AddTrack(std::string_view name, PerfettoTrack group = 0);
  PerfettoTrack AddByteCounter(std::string_view name, PerfettoTrack group);

  void Count(uint64_t time_ns, PerfettoTrack counter, uint64_t value);
  void Begin(uint64_t time_ns, PerfettoTrack track, std::string_view name);
  void End(uint64_t time_ns, PerfettoTrack track);
  void Instant(uint64_t time_ns, PerfettoTrack track, std::string_view name,
               const PerfettoArguments& arguments);

 private:
  void AddClocks(uint64_t started_unix_ns);
  void AddProcess(int64_t process, std::string_view name);
  void AddEvent(uint64_t time_ns, std::string_view name, const std::string& event);
  void Emit(const std::string& packet);
  // Returns the name's number and, if it is new, its definition, which goes into the same packet.
  std::pair<uint64_t, std::string> Intern(std::string_view name);

  ByteSink& sink_;
  PerfettoTrack process_track_ = 1;
  PerfettoTrack latest_track_ = 1;
  bool first_ = true;
  absl::flat_hash_map<std::string, uint64_t> names_;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PERFETTO_PACKETS_H_
