// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_NEXT_COMMANDS_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_NEXT_COMMANDS_H_

#include <string>

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns the `memtrace fit` command that tries the remedies on this program and this card; empty
// if it cannot be told: words of the command are not recorded or hidden (***), the process is one
// of several, or the card's size is not known.
std::string FitCommand(const analysis::Explanation& explanation, const analysis::RunFacts& run);

// Returns the commands that a reader may paste next, each with what it does.
Facts NextCommands(const analysis::Explanation& explanation, const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_NEXT_COMMANDS_H_
