// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERDICT_CHECKPOINTING_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_VERDICT_CHECKPOINTING_TEXT_H_

#include <string>
#include <vector>

#include "tools/analysis/source/annotation.h"

namespace memtrace::report {

// Returns a sentence for each fault in the program's activation checkpointing: it is on in eval
// mode, wraps the whole model, or detaches the graph. Empty if there is none.
std::vector<std::string> CheckpointingSentences(const analysis::Annotations& annotations);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERDICT_CHECKPOINTING_TEXT_H_
