// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ROOM_LOCAL_SOCKET_H_
#define MEMTRACE_INTERPOSE_CORE_ROOM_LOCAL_SOCKET_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/card/unique_descriptor.h"

// Sockets by which processes of one machine talk to each other: whole messages (SOCK_SEQPACKET)
// under abstract names, so that no file is left behind.
namespace memtrace {

// Returns kUnavailable with the name of the call that failed and the system's reason.
absl::Status SystemError(const char* call);

// Listens under `name`. kUnavailable if the system has no socket for it, or another process has the
// name.
absl::StatusOr<UniqueDescriptor> ListenUnder(const std::string& name);

// Connects to the process that listens under `name`. kUnavailable if there is none. With
// `is_waiting` false, no later call on the socket waits either, and the connection fails if too
// many others wait to be accepted.
absl::StatusOr<UniqueDescriptor> ConnectTo(const std::string& name, bool is_waiting = true);

// The process at the other end: the one that listens, or the one that connected. The system tells
// it, so a message cannot lie about it.
struct Peer {
  int process = 0;
  bool is_same_user = false;
};
Peer PeerOf(int connection);

// Makes a call that sends on the connection fail if it lasts longer.
void LimitSends(int connection, std::chrono::milliseconds limit);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ROOM_LOCAL_SOCKET_H_
