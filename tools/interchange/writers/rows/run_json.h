// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_RUN_JSON_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_RUN_JSON_H_

#include "nlohmann/json.hpp"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// Returns the run in the form of every format: flat, texts and integers, without what is not known.
nlohmann::ordered_json RunJson(const ExportedRun& run);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_RUN_JSON_H_
