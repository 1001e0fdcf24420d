// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/recorder/recorder_fixture.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "profiler/trace/text/text_trace.h"

namespace memtrace::recorder {

trace::Frame NumberSymbolizer::Symbolize(const RawFrame& frame) {
  ++calls_;
  const std::string code = std::to_string(reinterpret_cast<uintptr_t>(frame.code));
  return {.file = "code" + code + ".py",
          .function = "f" + code,
          .line = static_cast<uint32_t>(frame.instruction)};
}

bool NumberSymbolizer::IsHidden(const RawFrame& frame) {
  return hidden_ != 0 && reinterpret_cast<uintptr_t>(frame.code) == hidden_;
}

std::vector<RawFrame> FramesOf(const std::vector<uintptr_t>& codes) {
  std::vector<RawFrame> frames;
  frames.reserve(codes.size());
  for (const uintptr_t code : codes) {
    // An identity, never followed. NOLINTNEXTLINE(performance-no-int-to-ptr)
    frames.push_back({.code = reinterpret_cast<const void*>(code), .instruction = 1});
  }
  return frames;
}

RecordedRun::RecordedRun(const trace::TraceFileOptions& options) {
  std::string name = (std::filesystem::temp_directory_path() / "memtrace-test-XXXXXX").string();
  folder_ = mkdtemp(name.data());
  path_ = folder_ + "/run.trace";
  recorder_ =
      std::make_unique<Recorder>(*trace::TraceWriter::Open(path_, {}, options), symbolizer_);
}

RecordedRun::~RecordedRun() {
  recorder_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void RecordedRun::Allocate(DeviceAddress address, Bytes requested, trace::StackId stack) {
  recorder_->blocks().Allocated({.pool = {},
                                 .address = address,
                                 .requested = requested,
                                 .allocated = RoundUp(requested, 512),
                                 .context = recorder_->scopes().CurrentContext(stack)});
}

void RecordedRun::Free(DeviceAddress address, Bytes requested) {
  recorder_->blocks().Freed({.pool = {},
                             .address = address,
                             .requested = requested,
                             .allocated = RoundUp(requested, 512)});
}

std::vector<std::string> RecordedRun::Lines() const {
  std::istringstream text(trace::TraceToText(Reader()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(line.starts_with('@') ? line.substr(line.find(' ') + 1) : line);
  }
  return lines;
}

trace::TraceReader RecordedRun::Reader() const { return *trace::TraceReader::Open(path_); }

}  // namespace memtrace::recorder
