// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_RMM_LOG_H_
#define MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_RMM_LOG_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/interchange/importers/imported_run.h"

namespace memtrace::interchange {

// The CSV that RMM's logging_resource_adaptor writes: "Thread,Time,Action,Pointer,Size,Stream",
// with times of day. Everything is on card 0, because the log names no card. A failed allocation is
// an out-of-memory event.
bool IsRmmLog(std::string_view beginning);
absl::StatusOr<std::unique_ptr<ImportedRun>> OpenRmmLog(std::string_view bytes);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_RMM_LOG_H_
