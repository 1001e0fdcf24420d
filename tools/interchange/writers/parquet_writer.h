// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PARQUET_WRITER_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PARQUET_WRITER_H_

#include <string>

#include "absl/status/status.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// Write one table a file: the rows of kEventColumns or of kBlockColumns. `library` is the path of
// libmemtrace_parquet.so. Return kFailedPrecondition (a whole sentence) if it, or pyarrow beside
// it, is not installed; other errors as of ByteSink::Close.
absl::Status WriteParquetEvents(const ExportedRun& run, const std::string& path,
                                const std::string& library);
absl::Status WriteParquetBlocks(const ExportedRun& run, const std::string& path,
                                const std::string& library);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PARQUET_WRITER_H_
