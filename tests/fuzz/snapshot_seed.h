// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_FUZZ_SNAPSHOT_SEED_H_
#define MEMTRACE_TESTS_FUZZ_SNAPSHOT_SEED_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/interchange/writers/pickle_writer.h"
#include "tools/interchange/writers/rows/byte_sink.h"

namespace memtrace::fuzz {

// Returns a small memory snapshot of torch with one of everything, from which mutations begin.
inline std::string SnapshotSeed() {
  constexpr int64_t kPage = 1 << 20;
  interchange::TextSink sink;
  interchange::PickleWriter out(sink);
  const auto number = [&out](std::string_view key, int64_t value) {
    out.Text(key);
    out.Integer(value);
  };
  const auto range = [&](int64_t address, int64_t size) {
    number("address", address);
    number("size", size);
    number("total_size", size);
    number("allocated_size", size);
  };
  const auto entry = [&](std::string_view action, int64_t address, int64_t size) {
    out.Item();
    out.BeginDict();
    out.Text("action");
    out.Text(action);
    number(action == "oom" ? "device_free" : "addr", address);
    number("size", size);
    number("stream", 0);
    number("time_us", 1'700'000'000'000'000 + address);
    out.Text("frames");
    out.BeginList();
    out.Item();
    out.BeginDict();
    out.Text("filename");
    out.Text("train.py");
    out.Text("name");
    out.Text(action);
    number("line", 7);
    out.EndDict();
    out.EndList();
    out.EndDict();
  };
  out.BeginDict();
  out.Text("segments");
  out.BeginList();
  out.Item();
  out.BeginDict();
  number("device", 1);
  range(kPage, 2 * kPage);
  out.Text("segment_pool_id");
  out.Pair(0, 1);
  out.Text("blocks");
  out.BeginList();
  for (const std::string_view state : {"active_allocated", "active_pending_free", "inactive"}) {
    out.Item();
    out.BeginDict();
    range(kPage + static_cast<int64_t>(state.size()) * 512, 512);
    out.Text("state");
    out.Text(state);
    out.EndDict();
  }
  out.EndList();
  out.EndDict();
  out.EndList();
  out.Text("device_traces");
  out.BeginList();
  for (int device = 0; device < 2; ++device) {
    out.Item();
    out.BeginList();
    entry("segment_map", 9 * kPage, 4 * kPage);
    entry("alloc", 9 * kPage, 700);
    entry("free_requested", 9 * kPage, 700);
    entry("free_completed", 9 * kPage, 700);
    entry("segment_unmap", 10 * kPage, kPage);
    entry("oom", 5, kPage);
    entry("snapshot", 0, 0);
    out.EndList();
  }
  out.EndList();
  out.EndDict();
  out.Finish();
  return sink.text();
}

}  // namespace memtrace::fuzz

#endif  // MEMTRACE_TESTS_FUZZ_SNAPSHOT_SEED_H_
