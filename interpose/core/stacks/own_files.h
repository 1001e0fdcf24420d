// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_STACKS_OWN_FILES_H_
#define MEMTRACE_INTERPOSE_CORE_STACKS_OWN_FILES_H_

#include <string>
#include <string_view>

namespace memtrace {

// Returns the folder of the package that `library` belongs to, with a slash at its end:
// "/x/memtrace/lib/libmemtrace.so" -> "/x/memtrace/". Empty if the library lies elsewhere.
std::string PackageFolderOf(std::string_view library);

// True if the file is part of memtrace's own Python package, whose hooks appear in the stacks of
// every followed program.
bool IsOwnFile(std::string_view file);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_STACKS_OWN_FILES_H_
