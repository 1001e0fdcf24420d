// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FILES_BOUND_SOCKETS_H_
#define MEMTRACE_TOOLS_FIT_FILES_BOUND_SOCKETS_H_

#include <string>
#include <vector>

namespace memtrace::fit {

// Reads the names of sockets that are files from what the kernel writes in /proc/net/unix; each
// once, and no more than 1,000.
std::vector<std::string> BoundSockets(const std::string& text);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FILES_BOUND_SOCKETS_H_
