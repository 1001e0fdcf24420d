// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_LINE_WRITERS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_LINE_WRITERS_H_

#include "tools/interchange/writers/rows/byte_sink.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// Write one line for each event, with the columns of kEventColumns. CSV (RFC 4180, line ends \n)
// begins with a line of names; a stack is its number and the user's innermost line. JSONL leaves
// out what is absent, begins with a line {"event":"run"}, and has {"event":"stack"} before a stack
// is first named.
void WriteCsv(const ExportedRun& run, ByteSink& sink);
void WriteJsonLines(const ExportedRun& run, ByteSink& sink);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_LINE_WRITERS_H_
