// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_VARIABLES_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_VARIABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/source/annotation.h"

namespace memtrace::analysis {

// A variable of the program, or an attribute of one, with the memory that it reaches on a card, as
// the hooks found it at an out-of-memory event. Memory that several reach counts for the first of
// them.
struct Variable {
  std::string name;    // "backend.cache"
  std::string place;   // where it can be written: "serve.py", "encode, train.py"
  std::string kind;    // its class: "dict", "GPT2Model"
  uint64_t count = 0;  // elements; 0 if it is no container
  uint64_t bytes = 0;  // of storages
};

// Returns the variables that reach memory of that card, largest first; none if the hooks stated
// none.
std::vector<Variable> ParseVariables(const Annotations& annotations, int32_t device);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_VARIABLES_H_
