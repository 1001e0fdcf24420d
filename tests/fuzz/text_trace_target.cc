// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/check.h"
#include "profiler/trace/text/text_trace.h"
#include "tests/fuzz/targets.h"

namespace memtrace::fuzz {
namespace {

std::string TextOf(const std::string& path) {
  const auto reader = trace::TraceReader::Open(path);
  MEMTRACE_CHECK(reader.ok());
  MEMTRACE_CHECK(reader->completeness().whole());
  return trace::TraceToText(*reader);
}

// A path for this process alone, removed at the end.
struct Scratch {
  ~Scratch() { std::filesystem::remove(path); }
  const std::string path = std::filesystem::temp_directory_path() /
                           ("memtrace-fuzz." + std::to_string(getpid()) + ".trace");
};

}  // namespace

void TextTrace(std::string_view text) {
  const Scratch scratch;
  const absl::Status written = trace::WriteTextTrace(text, scratch.path);
  if (!written.ok()) {
    MEMTRACE_CHECK(!written.message().empty());
    return;
  }
  const std::string once = TextOf(scratch.path);
  MEMTRACE_CHECK(trace::WriteTextTrace(once, scratch.path).ok());
  MEMTRACE_CHECK(TextOf(scratch.path) == once);
}

}  // namespace memtrace::fuzz
