// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/abi/block_exchange.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "interpose/core/room/local_server.h"
#include "interpose/core/room/local_socket.h"

// A connection carries one request and, for each chunk, one answer with its descriptor. An answer
// without a descriptor means that there is no such block.
namespace memtrace {
namespace {

struct Answer {
  uint64_t size = 0;
  uint64_t more = 0;  // the number of answers that follow
};

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

}  // namespace

absl::StatusOr<std::string> BlockServer::Start(Open open) {
  const MutexLock lock(mutex_);
  if (!name_.empty()) return name_;
  uint64_t random = 0;
  if (getrandom(&random, sizeof(random), 0) != static_cast<ssize_t>(sizeof(random)))
    return SystemError("getrandom");
  const std::string name = absl::StrCat("memtrace.", getpid(), ".", absl::Hex(random));
  MEMTRACE_RETURN_IF_ERROR(LocalServer::Get().Listen(
      name, [open = std::move(open)](int connection) { Serve(connection, open); }));
  name_ = name;
  return name_;
}

absl::StatusOr<BlockServer::Chunks> FetchBlock(const std::string& name,
                                               const BlockRequest& request) {
  const auto connection = ConnectTo(name);
  if (!connection.ok()) {
    return absl::UnavailableError(
        "the process that sent the CUDA tensor has ended, or is in another network namespace");
  }
  if (send(connection->get(), &request, sizeof(request), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(sizeof(request)))
    return SystemError("send");
  BlockServer::Chunks chunks;
  Answer answer{.size = 0, .more = 1};
  while (answer.more > 0) {
    ImportedMemory::Chunk chunk;
    if (!ReceiveAnswer(connection->get(), answer, chunk.descriptor))
      return absl::NotFoundError("the process that sent the CUDA tensor has freed its memory");
    chunk.size = answer.size;
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

}  // namespace memtrace
