// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_LINE_WRITERS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_LINE_WRITERS_H_

#include "tools/interchange/writers/rows/byte_sink.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// One line an event, with the columns of kEventColumns. CSV (RFC 4180, line ends \n): a line of
// names first; a stack is its number and the innermost line of the user's. JSONL: what is not there
// is left out; a line {"event":"run"} first, and {"event":"stack"} before a stack is first named.
void WriteCsv(const ExportedRun& run, ByteSink& sink);
void WriteJsonLines(const ExportedRun& run, ByteSink& sink);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_LINE_WRITERS_H_
