// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_OTHER_TRACES_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_OTHER_TRACES_H_

#include "tools/analysis/explained/card.h"
#include "tools/analysis/explained/failure.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/command/inputs/trace_input.h"

namespace memtrace::command {

// Reads the traces beside the file to learn what the other processes of its launch held of `card`
// at the explained moment: their context, and their largest holding. `run` describes the input.
void AddMemoryOfOthers(const TraceInput& input, const analysis::RunFacts& run,
                       analysis::CardExplanation& card);

// If the process did not run out of memory, notes which traces beside its file are of processes
// that did.
void AddTracesThatRanOut(const analysis::RunFacts& run, analysis::ExplainedFailure& failure);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_OTHER_TRACES_H_
