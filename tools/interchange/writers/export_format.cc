// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/export_format.h"

#include "tools/interchange/writers/flame_writers.h"
#include "tools/interchange/writers/line_writers.h"
#include "tools/interchange/writers/parquet_writer.h"
#include "tools/interchange/writers/snapshot_writer.h"
#include "tools/interchange/writers/sqlite_writer.h"
#include "tools/interchange/writers/timeline_writers.h"

namespace memtrace::interchange {
namespace {

absl::Status Sqlite(const ExportedRun& run, const std::string& path, const std::string& /*parts*/) {
  return WriteSqlite(run, path);
}
absl::Status ParquetEvents(const ExportedRun& run, const std::string& path,
                           const std::string& parts) {
  return WriteParquetEvents(run, path, parts + "/libmemtrace_parquet.so");
}
absl::Status ParquetBlocks(const ExportedRun& run, const std::string& path,
                           const std::string& parts) {
  return WriteParquetBlocks(run, path, parts + "/libmemtrace_parquet.so");
}

}  // namespace

const std::vector<ExportFormat>& ExportFormats() {
  static const auto* formats = new std::vector<ExportFormat>{
      {"snapshot",
       ".snapshot.pickle",
       "https://pytorch.org/memory_viz (drop FILE there)",
       WriteSnapshot,
       {}},
      {"perfetto",
       ".perfetto-trace",
       "https://ui.perfetto.dev (drop FILE there)",
       WritePerfetto,
       {}},
      {"pprof", ".pb.gz", "go tool pprof -http=: FILE", WritePprof, {}},
      {"speedscope",
       ".speedscope.json",
       "https://www.speedscope.app (drop FILE there)",
       WriteSpeedscope,
       {}},
      {"collapsed",
       ".collapsed.txt",
       "flamegraph.pl --countname bytes FILE > flame.svg",
       WriteCollapsed,
       {}},
      {"chrome",
       ".chrome.json",
       "chrome://tracing or https://ui.perfetto.dev (drop FILE there)",
       WriteChrome,
       {}},
      {"sqlite", ".sqlite", "sqlite3 FILE 'select * from peak_by_role'", nullptr, {{"", Sqlite}}},
      {"parquet",
       ".parquet",
       "duckdb -c \"select role, sum(size) from 'FILE' where at_peak = 1 group by role\"",
       nullptr,
       {{".events", ParquetEvents}, {".blocks", ParquetBlocks}}},
      {"csv", ".csv", "a spreadsheet, or: duckdb -c \"from 'FILE'\"", WriteCsv, {}},
      {"jsonl", ".jsonl", "jq . FILE", WriteJsonLines, {}},
  };
  return *formats;
}

}  // namespace memtrace::interchange
