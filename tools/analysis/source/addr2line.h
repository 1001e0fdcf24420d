// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_ADDR2LINE_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_ADDR2LINE_H_

#include <string>
#include <vector>

namespace memtrace::analysis {

// Asks addr2line of binutils, if it is installed, for the functions at offsets of a file. Returns
// them in their order; "" for one that is not known. Returns fewer, or none, if the file cannot be
// read.
std::vector<std::string> AskAddr2line(const std::string& file,
                                      const std::vector<std::string>& offsets);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_ADDR2LINE_H_
