// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_TIMELINE_WRITERS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_TIMELINE_WRITERS_H_

#include "tools/interchange/writers/rows/byte_sink.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// Of every card: reserved and live bytes, live bytes by role and by owner; steps, phases, and each
// out-of-memory with its figures.
void WritePerfetto(const ExportedRun& run, ByteSink& sink);

// The same in Chrome's JSON, and each allocation and free as torch.profiler writes them
// ("[memory]"), with the rank where tools look for it.
void WriteChrome(const ExportedRun& run, ByteSink& sink);

// "train.py:31 in step" lines, innermost first; empty without a stack.
std::string StackText(trace::StackId stack, const ExportedRun& run);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_TIMELINE_WRITERS_H_
