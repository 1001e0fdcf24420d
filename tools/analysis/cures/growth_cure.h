// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CURES_GROWTH_CURE_H_
#define MEMTRACE_TOOLS_ANALYSIS_CURES_GROWTH_CURE_H_

#include <string>

#include "tools/analysis/kept/growth.h"

namespace memtrace::analysis {

// These functions word the change to a program that keeps what grows. All of them REQUIRE that the
// growth has sites.

// Returns the lines of what grows, fastest first and each once, as in "train.py:9, train.py:12 and
// 3 more"; a site without a line is named itself.
std::string GrowingLinesText(const GrowthCourse& growth);

// Returns the variable that takes a tensor with its graph, and the line that made it.
std::string TakerOf(const Keeper& keeper);

// Returns the change that keeps the growth from being kept. `needs_graphs`: each iteration has a
// backward. `usual`: the change to make if it is not known what keeps it.
std::string WithoutKeeping(const GrowthCourse& growth, bool needs_graphs, const std::string& usual);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CURES_GROWTH_CURE_H_
