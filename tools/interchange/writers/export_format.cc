// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/export_format.h"

#include "tools/interchange/writers/flame_writers.h"
#include "tools/interchange/writers/line_writers.h"
#include "tools/interchange/writers/snapshot_writer.h"
#include "tools/interchange/writers/sqlite_writer.h"
#include "tools/interchange/writers/timeline_writers.h"

namespace memtrace::interchange {

const std::vector<ExportFormat>& ExportFormats() {
  static const auto* formats = new std::vector<ExportFormat>{
      {"snapshot", ".snapshot.pickle", "https://pytorch.org/memory_viz (drop FILE there)",
       WriteSnapshot, nullptr},
      {"perfetto", ".perfetto-trace", "https://ui.perfetto.dev (drop FILE there)", WritePerfetto,
       nullptr},
      {"pprof", ".pb.gz", "go tool pprof -http=: FILE", WritePprof, nullptr},
      {"speedscope", ".speedscope.json", "https://www.speedscope.app (drop FILE there)",
       WriteSpeedscope, nullptr},
      {"collapsed", ".collapsed.txt", "flamegraph.pl --countname bytes FILE > flame.svg",
       WriteCollapsed, nullptr},
      {"chrome", ".chrome.json", "chrome://tracing or https://ui.perfetto.dev (drop FILE there)",
       WriteChrome, nullptr},
      {"sqlite", ".sqlite", "sqlite3 FILE 'select * from peak_by_role'", nullptr, WriteSqlite},
      {"csv", ".csv", "a spreadsheet, or: duckdb -c \"from 'FILE'\"", WriteCsv, nullptr},
      {"jsonl", ".jsonl", "jq . FILE", WriteJsonLines, nullptr},
  };
  return *formats;
}

}  // namespace memtrace::interchange
