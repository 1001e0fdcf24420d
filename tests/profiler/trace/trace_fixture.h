// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_PROFILER_TRACE_TRACE_FIXTURE_H_
#define MEMTRACE_TESTS_PROFILER_TRACE_TRACE_FIXTURE_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "profiler/trace/reading/trace_reader.h"
#include "profiler/trace/writing/trace_writer.h"

namespace memtrace::trace {

// A new folder for each test, which is removed after it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Returns every field of an event as text, for comparisons: "#1 @2000 Allocate 0 1000 ...".
std::string Describe(const Event& event);
std::vector<std::string> Describe(const std::vector<Event>& events);

// Returns one event of every kind, with every field set.
std::vector<Event> OneOfEachKind();
// Returns events with ascending sequence and time; everything else is random, with extreme values.
std::vector<Event> RandomEvents(size_t count, std::mt19937_64& random);

std::string ReadBytes(const std::string& path);
void WriteBytes(const std::string& path, const std::string& bytes);

// Opens a trace, or fails the test.
TraceReader MustOpen(const std::string& path);
std::vector<Event> EventsOf(const TraceReader& reader);

// Writes and reads a trace with short functions: Write, Close, Bytes, Read.
class TraceFixture : public testing::Test {
 protected:
  void Begin(const TraceFileOptions& options = {},
             const std::map<std::string, std::string>& info = {});
  void Write(const std::vector<Event>& events);
  // Writes allocations 512 bytes apart, with consecutive sequence numbers.
  void WriteAllocations(size_t count);
  void Close() { writer_->Close(); }
  std::vector<std::string> Read() const { return Describe(EventsOf(MustOpen(path_))); }
  Completeness State() const { return MustOpen(path_).completeness(); }

  TemporaryFolder folder_;
  const std::string path_ = folder_.File("run.trace");
  std::unique_ptr<TraceWriter> writer_;
  uint64_t sequence_ = 0;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_TESTS_PROFILER_TRACE_TRACE_FIXTURE_H_
