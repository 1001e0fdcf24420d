// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_GROWTH_CURE_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_GROWTH_CURE_H_

#include <string>

#include "tools/analysis/kept/growth.h"

namespace memtrace::analysis {

// Words for the change of a program that keeps what grows. REQUIRES, of all: the growth has sites.

// "train.py:9, train.py:12 and 3 more make": the lines of what grows, fastest first, each once; the
// site of what has none.
std::string LinesThatMake(const GrowthCourse& growth);

// The variable that takes a tensor with its graph, and the line that made that.
std::string TakerOf(const Keeper& keeper);

// `needs_graphs`: each iteration has a backward. `usual`: the change that is to be made where it is
// not known what keeps it.
std::string WithoutKeeping(const GrowthCourse& growth, bool needs_graphs, const std::string& usual);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_GROWTH_CURE_H_
