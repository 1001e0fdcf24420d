// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PICKLE_READER_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PICKLE_READER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "tools/interchange/pickle_prefix.h"
#include "tools/interchange/pickle_tree.h"

namespace memtrace::interchange {

// Reads a pickle of plain data (docs/reference/interchange.md). Nothing is executed, imported or
// called, and memory stays below 4 times the pickle plus 192 MiB. `pickle` outlives the tree. Bytes
// after the pickle's end are ignored.
//
// Errors are one clause that names the place, "it holds more than data: REDUCE at byte 4711 would
// ...": kInvalidArgument if it is no pickle or is broken, kPermissionDenied if it is more than
// data, kResourceExhausted if it would take too much memory.
//
// With `cut`, a pickle that ends before its end is no error: the tree holds what is whole of it,
// and `cut` says what is missing.
absl::StatusOr<PickleTree> ReadPickle(std::string_view pickle, PickleCut* cut = nullptr);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PICKLE_READER_H_
