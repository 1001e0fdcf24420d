// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/importers/write_trace.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/trace/events/event_names.h"
#include "profiler/trace/writing/trace_writer.h"

namespace memtrace::interchange {
namespace {

// Copies events into a writer, whose strings and stacks have numbers of their own.
class TraceCopy {
 public:
  TraceCopy(const analysis::EventSource& source, trace::TraceWriter& writer)
      : source_(source), writer_(writer) {}

  void Add(const trace::Event& event) {
    trace::Event copy = event;
    copy.sequence = ++sequence_;
    latest_ns_ = std::max(latest_ns_, event.time_ns);
    copy.time_ns = latest_ns_;
    trace::EventNames([this](trace::StringId& id) { String(id); },
                      [this](trace::StackId& id) { Stack(id); })
        .Visit(copy.payload);
    writer_.Write(copy).IgnoreError();  // the writer keeps why it stopped
  }

 private:
  void String(trace::StringId& id) {
    if (id != 0) id = writer_.definitions().String(source_.String(id));
  }

  void Stack(trace::StackId& id) {
    if (id == 0) return;
    const auto [entry, is_new] = stacks_.try_emplace(id, 0);
    if (is_new) {
      const std::vector<trace::Frame> frames = source_.Stack(id);
      trace::DefinitionWriter& names = writer_.definitions();
      for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
        entry->second = names.DefineStack(entry->second, names.DefineFrame(*frame));
      }
    }
    id = entry->second;
  }

  const analysis::EventSource& source_;
  trace::TraceWriter& writer_;
  absl::flat_hash_map<trace::StackId, trace::StackId> stacks_;
  uint64_t sequence_ = 0;
  uint64_t latest_ns_ = 0;
};

}  // namespace

absl::Status WriteTrace(const analysis::EventSource& source,
                        const std::map<std::string, std::string>& info, const std::string& path) {
  auto writer = trace::TraceWriter::Open(path, info);
  if (!writer.ok()) return writer.status();
  TraceCopy copy(source, **writer);
  source.ForEach([&copy](const trace::Event& event) { copy.Add(event); });
  (*writer)->Close();
  return (*writer)->loss().status();
}

}  // namespace memtrace::interchange
