// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_EXPORT_FORMAT_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_EXPORT_FORMAT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/interchange/writers/rows/byte_sink.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// One of the files of a format that a library writes.
struct ExportFile {
  std::string_view infix;  // ".events": run.events.parquet; empty for the only one
  // Writes a new file. `parts` is the folder of the libraries that are opened on demand. Returns
  // kFailedPrecondition (a whole sentence) if one is not installed; other errors as of
  // ByteSink::Close.
  absl::Status (*write)(const ExportedRun& run, const std::string& path, const std::string& parts);
};

// A format that a trace can be exported to.
struct ExportFormat {
  std::string_view name;    // of --to
  std::string_view suffix;  // of the file: ".csv"
  std::string_view opened;  // what opens it; FILE stands for the (last) file's name
  // Writes front to back, so that the output can go into a pipe; null if there are files.
  void (*stream)(const ExportedRun& run, ByteSink& sink);
  std::vector<ExportFile> files;
};

const std::vector<ExportFormat>& ExportFormats();

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_EXPORT_FORMAT_H_
