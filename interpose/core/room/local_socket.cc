// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/local_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace memtrace {
namespace {

struct SocketAddress {
  sockaddr_un address{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

SocketAddress AddressOf(const std::string& name) {
  SocketAddress to;
  to.address.sun_family = AF_UNIX;
  const size_t length = std::min(name.size(), sizeof(to.address.sun_path) - 1);
  std::memcpy(to.address.sun_path + 1, name.data(), length);
  to.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return to;
}

UniqueDescriptor NewSocket(int flags) {
  return UniqueDescriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

}  // namespace

absl::Status SystemError(const char* call) {
  return absl::UnavailableError(absl::StrCat(call, " failed: ", std::strerror(errno)));
}

absl::StatusOr<UniqueDescriptor> ListenUnder(const std::string& name) {
  UniqueDescriptor listener = NewSocket(SOCK_NONBLOCK);
  const SocketAddress address = AddressOf(name);
  if (listener.get() < 0) return SystemError("socket");
  if (bind(listener.get(), address.get(), address.length) != 0) return SystemError("bind");
  if (listen(listener.get(), SOMAXCONN) != 0) return SystemError("listen");
  return listener;
}

absl::StatusOr<UniqueDescriptor> ConnectTo(const std::string& name, bool is_waiting) {
  UniqueDescriptor connection = NewSocket(is_waiting ? 0 : SOCK_NONBLOCK);
  const SocketAddress address = AddressOf(name);
  if (connection.get() < 0) return SystemError("socket");
  if (connect(connection.get(), address.get(), address.length) != 0) return SystemError("connect");
  return connection;
}

Peer PeerOf(int connection) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return {};
  return {.process = peer.pid, .is_same_user = peer.uid == geteuid()};
}

void LimitSends(int connection, std::chrono::milliseconds limit) {
  const timeval time{.tv_sec = limit.count() / 1000, .tv_usec = limit.count() % 1000 * 1000};
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

}  // namespace memtrace
