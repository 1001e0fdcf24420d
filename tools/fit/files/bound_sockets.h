// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FILES_BOUND_SOCKETS_H_
#define MEMTRACE_TOOLS_FIT_FILES_BOUND_SOCKETS_H_

#include <string>
#include <vector>

namespace memtrace::fit {

// Reads the names of sockets that are files from the kernel's /proc/net/unix, each once, and at
// most 1,000.
std::vector<std::string> BoundSockets(const std::string& text);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FILES_BOUND_SOCKETS_H_
