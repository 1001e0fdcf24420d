// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CHANGES_CHANGE_NAMES_H_
#define MEMTRACE_TOOLS_FIT_CHANGES_CHANGE_NAMES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/remedies/catalogue.h"

namespace memtrace::fit {

// Finds a change that `run --with` can make, by its hook ("mean_resizing", "mean-resizing"), by the
// name of its remedy ("gradient-checkpointing") or by a short name ("checkpointing"). Returns
// nothing if there is none.
std::optional<remedies::Row> FindChange(std::string_view name);

// Returns the names under which a user finds them: hooks with hyphens.
std::vector<std::string> ChangeNames();

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CHANGES_CHANGE_NAMES_H_
