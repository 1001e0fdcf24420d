// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PICKLE_READER_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PICKLE_READER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "tools/interchange/pickle_prefix.h"
#include "tools/interchange/pickle_tree.h"

namespace memtrace::interchange {

// Reads a pickle of plain data (docs/interchange.md); nothing is executed, imported or called, and
// memory stays below 4 times the pickle plus 192 MiB. `pickle` outlives the tree. What follows the
// pickle's end is left alone.
//
// Errors: one clause that ends with the place, "REDUCE at byte 4,711 would call a function: ...";
// kInvalidArgument for what is no pickle or is broken, kPermissionDenied for what is more than
// data, kResourceExhausted for what would take too much memory.
//
// With `cut`, a pickle that ends before its end is no error: the tree holds what is whole of it,
// and `cut` says what is missing.
absl::StatusOr<PickleTree> ReadPickle(std::string_view pickle, PickleCut* cut = nullptr);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PICKLE_READER_H_
