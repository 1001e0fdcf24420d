// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_GZIP_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_GZIP_H_

#include <string>
#include <string_view>

namespace memtrace::interchange {

// Compresses as gzip -6 would, without a time or a name, so that the same bytes give the same file.
std::string Gzip(std::string_view bytes);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_GZIP_H_
