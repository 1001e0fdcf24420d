// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_EXPORT_FORMAT_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_EXPORT_FORMAT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/interchange/writers/byte_sink.h"
#include "tools/interchange/writers/exported_run.h"

namespace memtrace::interchange {

// A format that a trace can be exported to: exactly one of the two functions is there.
struct ExportFormat {
  std::string_view name;    // of --to
  std::string_view suffix;  // of the file: ".csv"
  std::string_view opened;  // what opens it; FILE stands for the file's name
  // Front to back, so that it can go into a pipe.
  void (*stream)(const ExportedRun& run, ByteSink& sink);
  // Into a new file, which a library makes. Errors as those of ByteSink::Close.
  absl::Status (*file)(const ExportedRun& run, const std::string& path);
};

const std::vector<ExportFormat>& ExportFormats();

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_EXPORT_FORMAT_H_
