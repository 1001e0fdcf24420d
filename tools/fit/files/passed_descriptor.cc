// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/files/passed_descriptor.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>

namespace memtrace::fit {
namespace {

// One byte, and room for one descriptor beside it (unix(7), SCM_RIGHTS).
struct Parcel {
  Parcel() {
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    header.msg_control = room;
    header.msg_controllen = sizeof(room);
  }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;

  char byte = 0;
  iovec content{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
};

}  // namespace

bool PassDescriptor(int socket, int descriptor) {
  Parcel parcel;
  cmsghdr* control = CMSG_FIRSTHDR(&parcel.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(descriptor));
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof(descriptor));
  return sendmsg(socket, &parcel.header, 0) == 1;
}

int TakeDescriptor(int socket) {
  Parcel parcel;
  int descriptor = -1;
  if (recvmsg(socket, &parcel.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1) return descriptor;
  const cmsghdr* control = CMSG_FIRSTHDR(&parcel.header);
  if (control != nullptr && control->cmsg_type == SCM_RIGHTS)
    std::memcpy(&descriptor, CMSG_DATA(control), sizeof(descriptor));
  return descriptor;
}

}  // namespace memtrace::fit
