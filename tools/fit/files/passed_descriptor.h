// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FILES_PASSED_DESCRIPTOR_H_
#define MEMTRACE_TOOLS_FIT_FILES_PASSED_DESCRIPTOR_H_

namespace memtrace::fit {

// Sends an open file to whoever has the other end of the pair of sockets; false if it cannot.
bool PassDescriptor(int socket, int descriptor);

// Returns the open file that was sent, to be closed by the caller; -1 if none was. Does not wait.
int TakeDescriptor(int socket);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FILES_PASSED_DESCRIPTOR_H_
