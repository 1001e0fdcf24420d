// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_PROFILER_RECORDER_RECORDER_FIXTURE_H_
#define MEMTRACE_TESTS_PROFILER_RECORDER_RECORDER_FIXTURE_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "profiler/trace/reading/trace_reader.h"

namespace memtrace::recorder {

// Names a frame by its numbers: code 7, instruction 3 is "f7" in "code7.py", line 3. Counts calls.
class NumberSymbolizer : public FrameSymbolizer {
 public:
  trace::Frame Symbolize(const RawFrame& frame) override;
  int calls() const { return calls_.load(); }

  bool IsHidden(const RawFrame& frame) override;
  void Hide(uintptr_t code) { hidden_ = code; }

 private:
  std::atomic<int> calls_ = 0;
  uintptr_t hidden_ = 0;
};

// Returns frames with those codes, innermost first, each with instruction 1.
std::vector<RawFrame> FramesOf(const std::vector<uintptr_t>& codes);

// A recorder with a file of its own, and its trace as lines of text.
class RecordedRun {
 public:
  explicit RecordedRun(const trace::TraceFileOptions& options = {});
  ~RecordedRun();

  Recorder& recorder() { return *recorder_; }
  NumberSymbolizer& symbolizer() { return symbolizer_; }
  const std::string& path() const { return path_; }

  // Allocates in the current scope of the calling thread.
  void Allocate(DeviceAddress address, Bytes requested, trace::StackId stack = 0);
  void Free(DeviceAddress address, Bytes requested);
  // Returns the trace so far without times, one line for each event.
  std::vector<std::string> Lines() const;
  trace::TraceReader Reader() const;

 private:
  NumberSymbolizer symbolizer_;
  std::string folder_;
  std::string path_;
  std::unique_ptr<Recorder> recorder_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_TESTS_PROFILER_RECORDER_RECORDER_FIXTURE_H_
