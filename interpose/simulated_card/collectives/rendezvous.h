// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RENDEZVOUS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RENDEZVOUS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::card {

// Where the processes of one machine that make a communicator meet. It knows nothing of what they
// tell each other:
//
//   member 0 ──┐                   the n-th Gather of a member is answered when all members have
//   member 1 ──┼── rendezvous      made their n-th, with what each of them gave; what is sent
//   member 2 ──┘                   waits there for its Receive
//
// A member that ends, however it does, is seen at once: what can then no more be answered is
// answered with nothing.

// Opens one in this process, served by a thread of its own until all members have come and gone, or
// the process ends. name: an abstract socket's, at most 100 bytes, for this user only. False if the
// machine refuses it.
bool OpenRendezvous(const std::string& name);

// One of its members. Requests are made in order and never wait for each other; answers may be
// awaited in any order. One thread at a time, but Leave from any.
class RendezvousMember {
 public:
  // Null if nobody opened it on this machine.
  static std::unique_ptr<RendezvousMember> Join(const std::string& name, int rank, int size);
  ~RendezvousMember();
  RendezvousMember(const RendezvousMember&) = delete;
  RendezvousMember& operator=(const RendezvousMember&) = delete;

  using Ticket = std::uint64_t;
  Ticket Gather(std::string_view given);
  Ticket Receive(int from);
  void Send(int to, std::string_view given);

  // Waits. Each ticket once. Of a Gather what the members gave, by rank; of a Receive one element.
  // Nothing if a member that is needed for it has ended, or Leave was called.
  std::optional<std::vector<std::string>> Answer(Ticket ticket);

  void Leave();

 private:
  explicit RendezvousMember(int socket) : socket_(socket) {}
  Ticket Ask(std::uint32_t kind, int peer, std::string_view given);
  bool ReadAnswer();

  const int socket_;
  Ticket next_ = 1;
  std::map<Ticket, std::optional<std::vector<std::string>>> answers_;  // not asked for yet
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RENDEZVOUS_H_
