// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_CHECKPOINTING_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_CHECKPOINTING_TEXT_H_

#include <string>
#include <vector>

#include "tools/analysis/source/annotation.h"

namespace memtrace::report {

// Returns what is wrong with the program's activation checkpointing, a sentence each: it is on in
// eval mode, stands around the whole model, or cuts the graph off. Empty if nothing is.
std::vector<std::string> CheckpointingSentences(const analysis::Annotations& annotations);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_CHECKPOINTING_TEXT_H_
