// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_TIMELINE_WRITERS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_TIMELINE_WRITERS_H_

#include "tools/interchange/writers/rows/byte_sink.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// Writes, for every card, reserved and live bytes, and live bytes by role and by owner; also steps,
// phases, and each out-of-memory event with its figures.
void WritePerfetto(const ExportedRun& run, ByteSink& sink);

// Writes the same in Chrome's JSON, and each allocation and free in the form of torch.profiler
// ("[memory]"), with the rank where tools look for it.
void WriteChrome(const ExportedRun& run, ByteSink& sink);

// Returns lines such as "step (train.py:31)", innermost first; empty without a stack.
std::string StackText(trace::StackId stack, const ExportedRun& run);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_TIMELINE_WRITERS_H_
