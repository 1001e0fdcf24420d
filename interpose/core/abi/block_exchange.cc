// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/abi/block_exchange.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"

// A connection carries one request and, for each chunk, one answer with its descriptor. An answer
// without a descriptor means that there is no such block.
namespace memtrace {
namespace {

struct Answer {
  uint64_t size = 0;
  uint64_t more = 0;  // the number of answers that follow
};

absl::Status SystemError(const char* what) {
  return absl::UnavailableError(absl::StrCat(what, " failed: ", std::strerror(errno)));
}

struct SocketAddress {
  sockaddr_un address{};
  socklen_t length = 0;
};

// The address is in the abstract namespace, so no file is left behind.
SocketAddress AddressOf(const std::string& name) {
  SocketAddress to;
  to.address.sun_family = AF_UNIX;
  const size_t length = std::min(name.size(), sizeof(to.address.sun_path) - 1);
  std::memcpy(to.address.sun_path + 1, name.data(), length);
  to.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return to;
}

UniqueDescriptor NewSocket() {
  return UniqueDescriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

bool IsOfSameUser(int connection) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         peer.uid == geteuid();
}

using ControlBuffer = std::array<char, CMSG_SPACE(sizeof(int))>;

// A `descriptor` of -1 sends the answer without one.
bool SendAnswer(int connection, Answer answer, int descriptor) {
  iovec part{.iov_base = &answer, .iov_len = sizeof(answer)};
  alignas(cmsghdr) ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  return sendmsg(connection, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(answer));
}

bool ReceiveAnswer(int connection, Answer& answer, UniqueDescriptor& descriptor) {
  iovec part{.iov_base = &answer, .iov_len = sizeof(answer)};
  alignas(cmsghdr) ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof(answer)))
    return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return false;
  int received = -1;
  std::memcpy(&received, CMSG_DATA(header), sizeof(int));
  descriptor = UniqueDescriptor(received);
  return true;
}

void Serve(int connection, const BlockServer::Open& open) {
  BlockRequest request;
  if (!IsOfSameUser(connection)) return;
  if (recv(connection, &request, sizeof(request), 0) != static_cast<ssize_t>(sizeof(request)))
    return;
  const absl::StatusOr<BlockServer::Chunks> chunks = open(request);
  if (!chunks.ok()) {
    SendAnswer(connection, {}, -1);
    return;
  }
  uint64_t more = chunks->size();
  for (const ImportedMemory::Chunk& chunk : *chunks) {
    if (!SendAnswer(connection, {chunk.size, --more}, chunk.descriptor.get())) return;
  }
}

void ServeForEver(const UniqueDescriptor& listener, const BlockServer::Open& open) {
  while (true) {
    const UniqueDescriptor connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.get() >= 0) {
      Serve(connection.get(), open);
    } else if (errno == EMFILE || errno == ENFILE) {
      // Waits until some descriptors are closed.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

// All signals are blocked in this thread, so that the program's own threads handle them.
void StartThread(UniqueDescriptor listener, BlockServer::Open open) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([listener = std::move(listener), open = std::move(open)] {
    ServeForEver(listener, open);
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

absl::StatusOr<std::string> BlockServer::Start(Open open) {
  const MutexLock lock(mutex_);
  if (!name_.empty()) return name_;
  uint64_t random = 0;
  if (getrandom(&random, sizeof(random), 0) != static_cast<ssize_t>(sizeof(random)))
    return SystemError("getrandom");
  const std::string name = absl::StrCat("memtrace.", getpid(), ".", absl::Hex(random));
  UniqueDescriptor listener = NewSocket();
  const SocketAddress address = AddressOf(name);
  if (listener.get() < 0) return SystemError("socket");
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address.address), address.length) !=
          0 ||
      listen(listener.get(), SOMAXCONN) != 0)
    return SystemError("bind");
  StartThread(std::move(listener), std::move(open));
  name_ = name;
  return name_;
}

absl::StatusOr<BlockServer::Chunks> FetchBlock(const std::string& name,
                                               const BlockRequest& request) {
  const UniqueDescriptor connection = NewSocket();
  const SocketAddress address = AddressOf(name);
  if (connection.get() < 0) return SystemError("socket");
  if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&address.address),
              address.length) != 0) {
    return absl::UnavailableError(
        "the process that sent the CUDA tensor has ended, or is in another network namespace");
  }
  if (send(connection.get(), &request, sizeof(request), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(sizeof(request)))
    return SystemError("send");
  BlockServer::Chunks chunks;
  Answer answer{.size = 0, .more = 1};
  while (answer.more > 0) {
    ImportedMemory::Chunk chunk;
    if (!ReceiveAnswer(connection.get(), answer, chunk.descriptor))
      return absl::NotFoundError("the process that sent the CUDA tensor has freed its memory");
    chunk.size = answer.size;
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

}  // namespace memtrace
