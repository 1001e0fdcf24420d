// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RENDEZVOUS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RENDEZVOUS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::card {

// The meeting place of a communicator's processes on one machine. It does not interpret what they
// send:
//
//   member 0 ──┐                   the n-th Gather of a member is answered when all members have
//   member 1 ──┼── rendezvous      made their n-th, with what each of them gave; what is sent
//   member 2 ──┘                   waits there for its Receive
//
// The end of a member, however it ends, is noticed at once: requests that can then no longer be
// answered get an empty answer. If a request has waited for long, its member learns for whom.

// Opens one in this process, served by a thread of its own until all members have come and gone, or
// the process ends. `name` is an abstract socket's, at most 100 bytes, for this user only. After
// `late_after`, a request has waited for long. Returns false if the machine refuses it.
bool OpenRendezvous(const std::string& name,
                    std::chrono::milliseconds late_after = std::chrono::seconds(60));

// A member of a rendezvous. Requests are made in order and never wait for each other; answers may
// be awaited in any order, or taken whenever they come. One thread at a time, except that any
// thread may call Leave.
class RendezvousMember {
 public:
  // Returns null if no process on this machine opened it.
  static std::unique_ptr<RendezvousMember> Join(const std::string& name, int rank, int size);
  ~RendezvousMember();
  RendezvousMember(const RendezvousMember&) = delete;
  RendezvousMember& operator=(const RendezvousMember&) = delete;

  using Ticket = std::uint64_t;
  Ticket Gather(std::string_view given);
  Ticket Receive(int from);
  void Send(int to, std::string_view given);

  // Waits for the answer; call it once for each ticket. A Gather gives the members' data, by rank;
  // a Receive gives one element. Returns nothing if a member that is needed has ended, or Leave was
  // called. If it waits for long, it calls `is_late` once with the ranks that it waits for.
  std::optional<std::vector<std::string>> Answer(
      Ticket ticket, const std::function<void(const std::vector<int>&)>& is_late = {});

  // Calls take(answer) when the answer is read, within this or a later request for an answer, or
  // never. Does not wait. Call it instead of Answer.
  using Take = std::function<void(const std::vector<std::string>&)>;
  void AnswerLater(Ticket ticket, Take take);

  // Returns the rank of a member that has ended, after Answer has returned nothing; -1 if no other
  // member's end was the reason.
  int ended() const { return ended_; }

  void Leave();

 private:
  explicit RendezvousMember(int socket) : socket_(socket) {}
  Ticket Ask(std::uint32_t kind, int peer, std::string_view given);
  // Reads one frame. Returns its ticket, or nothing if the rendezvous cannot be read. A frame that
  // is no answer leaves the members that are late in *late.
  std::optional<Ticket> ReadFrame(std::vector<int>* late);
  // Reads what has arrived, so that the rendezvous never has to wait to write to this member.
  void ReadArrived();

  const int socket_;
  int ended_ = -1;
  Ticket next_ = 1;
  std::map<Ticket, std::optional<std::vector<std::string>>> answers_;  // received, not yet returned
  std::map<Ticket, Take> later_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_RENDEZVOUS_H_
