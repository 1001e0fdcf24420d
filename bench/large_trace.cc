// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: large_trace [--events N] [--oom] FILE
//
// Writes the trace of a long training (training_trace.h) for bench/large_trace.py, which measures
// the offline tool with it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "bench/training_trace.h"

namespace memtrace {
namespace {

int Main(int argc, char** argv) {
  CLI::App app{"The trace of a training that never was"};
  TrainingTraceOptions options;
  std::string file;
  app.add_option("--events", options.events, "as a reader counts them, at least");
  app.add_flag("--oom", options.out_of_memory, "the last step runs out of memory");
  app.add_option("FILE", file)->required();
  CLI11_PARSE(app, argc, argv);
  const absl::Status written = WriteTrainingTrace(file, options);
  if (written.ok()) return 0;
  std::fprintf(stderr, "large_trace: %s\n", written.ToString().c_str());
  return 3;
}

}  // namespace
}  // namespace memtrace

int main(int argc, char** argv) {
  try {
    return memtrace::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "large_trace: %s\n", error.what());
    return 1;
  }
}
