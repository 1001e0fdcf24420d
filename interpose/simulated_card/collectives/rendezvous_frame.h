// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RENDEZVOUS_FRAME_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RENDEZVOUS_FRAME_H_

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace memtrace::card {

// The header of each message on the socket between a member and the rendezvous, which are of one
// build; `bytes` bytes follow it.
struct RendezvousFrame {
  // kLate is no answer: the ticket's request waits for the members in its list, as for an answer.
  enum Kind : std::uint32_t { kJoin, kGather, kSend, kReceive, kAnswer, kGone, kLate };

  std::uint64_t ticket = 0;
  std::uint64_t bytes = 0;
  std::uint32_t kind = kJoin;
  std::int32_t peer = 0;  // kJoin: the member's own rank; kGone: a member that has ended
};

// Appends an element to a list in one string: its length in 8 bytes, then the element.
inline void AppendElement(std::string* list, const std::string& element) {
  const std::uint64_t bytes = element.size();
  list->append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  list->append(element);
}

// Returns an abstract socket's address; *bytes is its length.
inline sockaddr_un AddressOf(const std::string& name, socklen_t* bytes) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  *bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RENDEZVOUS_FRAME_H_
