// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_OTHER_TRACES_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_OTHER_TRACES_H_

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/command/inputs/trace_input.h"

namespace memtrace::command {

// Looks into the traces that lie beside the file for what the other processes of its launch held
// at the moment that is explained: their context, and their largest holding. `run`: of the input.
void AddWhatOthersHeld(const TraceInput& input, const analysis::RunFacts& run,
                       analysis::Explanation& explanation);

// Notes which of the traces beside the file, of a process that did not run out of memory, are of
// one that did.
void AddWhoRanOut(const analysis::RunFacts& run, analysis::Explanation& explanation);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_OTHER_TRACES_H_
