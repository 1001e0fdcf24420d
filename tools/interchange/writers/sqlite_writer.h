// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SQLITE_WRITER_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SQLITE_WRITER_H_

#include <string>

#include "absl/status/status.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// Writes a database with the schema of docs/reference/export.md. Errors: those of ByteSink::Close.
absl::Status WriteSqlite(const ExportedRun& run, const std::string& path);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SQLITE_WRITER_H_
