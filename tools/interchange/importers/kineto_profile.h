// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_KINETO_PROFILE_H_
#define MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_KINETO_PROFILE_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/interchange/importers/imported_run.h"

namespace memtrace::interchange {

// A file that torch.profiler's export_chrome_trace writes with profile_memory=True (and
// with_stack=True for stacks). Sizes are those of the blocks, rounded, because the file has no
// others. Blocks that are freed and were never allocated lived when it began.
bool IsKinetoProfile(std::string_view beginning);
absl::StatusOr<std::unique_ptr<ImportedRun>> OpenKinetoProfile(std::string_view bytes);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_KINETO_PROFILE_H_
