// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SNAPSHOT_WRITER_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SNAPSHOT_WRITER_H_

#include "tools/interchange/writers/rows/byte_sink.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// Writes what torch.cuda.memory._dump_snapshot() would have written at the end of the trace, with
// the whole trace as its history. Roles are `category`; owners, modules and paths are
// `user_metadata`; steps and phases are `external_annotations`. Reads the trace once for each card,
// and once more.
void WriteSnapshot(const ExportedRun& run, ByteSink& sink);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SNAPSHOT_WRITER_H_
