// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: trace_text TRACE. Prints the trace as profiler/trace/text/text_trace.h describes it.
//        trace_text TEXT TRACE. Makes the trace that the text describes.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "profiler/trace/text/text_trace.h"

namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

int Make(const char* text_path, const char* trace_path) {
  std::ifstream file(text_path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const absl::Status status = memtrace::trace::WriteTextTrace(text, trace_path);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return Make(argv[1], argv[2]);
  if (argc != 2) return 2;
  const auto reader = memtrace::trace::TraceReader::Open(argv[1]);
  if (!reader.ok()) return Fail(reader.status());
  const std::string text = memtrace::trace::TraceToText(*reader);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
