// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/rendezvous.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "interpose/simulated_card/collectives/rendezvous_frame.h"

namespace memtrace::card {
namespace {

// Larger than any request a member sends; a peer that sends more is not one of ours.
constexpr std::uint64_t kMostBytes = 1u << 30;

// Only its own thread uses its state.
class Server {
 public:
  Server(int listener, std::chrono::milliseconds late_after)
      : listener_(listener), late_after_(late_after) {}
  ~Server() { close(listener_); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void Serve() {
    while (size_ == 0 || static_cast<int>(gone_.size()) < size_) Turn();
  }

 private:
  struct Guest {
    int socket = -1;
    int rank = -1;  // set by its kJoin
    std::uint64_t gathers = 0;
    std::string in = {};
    std::string out = {};
  };
  using Guests = std::vector<std::unique_ptr<Guest>>;
  using Ticket = RendezvousMember::Ticket;
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    int rank = -1;  // the member that waits
    Ticket ticket = 0;
    Clock::time_point begin = Clock::now();
    bool is_told = false;  // for whom it waits
  };
  struct Round {
    std::map<int, std::string> given;  // by rank
    std::vector<Waiting> asked;
  };
  using Pair = std::pair<int, int>;  // from, to

  void Turn();
  void Admit();
  bool Read(Guest& guest);
  static bool Write(Guest& guest);
  bool HandleFrames(Guest& guest);
  void Handle(Guest& guest, const RendezvousFrame& frame, std::string given);
  void Gather(int rank, Ticket ticket, std::uint64_t number, std::string given);
  void Send(const Pair& way, const std::string& given);
  void Receive(const Pair& way, Ticket ticket);
  void Answer(int rank, Ticket ticket, const std::string& list);
  void AnswerNothing(int rank, Ticket ticket, int ended);
  void Reply(int rank, const RendezvousFrame& frame, const std::string& list);
  void Forget(int rank);
  bool HasUntold() const;
  void TellLate();
  bool IsLate(const Waiting& waiting) const {
    return !waiting.is_told && Clock::now() - waiting.begin >= late_after_;
  }
  void Tell(Waiting* waiting, const std::vector<int>& missing);
  std::vector<int> MissingIn(const Round& round) const;

  const int listener_;
  const std::chrono::milliseconds late_after_;
  int size_ = 0;  // set by the first member's kJoin
  Guests guests_;
  std::set<int> gone_;
  std::map<std::uint64_t, Round> rounds_;
  std::map<Pair, std::deque<std::string>> mail_;
  std::map<Pair, std::deque<Waiting>> awaited_;
};

void Server::Turn() {
  std::vector<pollfd> watched = {{.fd = listener_, .events = POLLIN, .revents = 0}};
  for (const auto& guest : guests_) {
    const auto events = static_cast<short>(guest->out.empty() ? POLLIN : POLLIN | POLLOUT);
    watched.push_back({.fd = guest->socket, .events = events, .revents = 0});
  }
  const int most = HasUntold() ? static_cast<int>(late_after_.count()) : -1;
  if (poll(watched.data(), watched.size(), most) < 0) return;
  std::vector<Guest*> ended;
  for (std::size_t i = 1; i < watched.size(); ++i) {
    Guest& guest = *guests_[i - 1];
    const short events = watched[i].revents;
    const bool stays = ((events & POLLOUT) == 0 || Write(guest)) &&
                       ((events & (POLLIN | POLLHUP | POLLERR)) == 0 || Read(guest));
    if (!stays) ended.push_back(&guest);
  }
  for (const Guest* guest : ended) {
    const int rank = guest->rank;
    close(guest->socket);
    std::erase_if(guests_, [&](const auto& one) { return one.get() == guest; });
    if (rank >= 0) Forget(rank);
  }
  if ((watched[0].revents & POLLIN) != 0) Admit();
  TellLate();
}

// The user is checked here, because abstract sockets have no permissions.
void Server::Admit() {
  const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return;
  ucred peer = {};
  socklen_t bytes = sizeof(peer);
  const bool is_ours =
      getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
  if (is_ours) {
    guests_.push_back(std::make_unique<Guest>(Guest{.socket = socket}));
  } else {
    close(socket);
  }
}

bool Server::Read(Guest& guest) {
  std::array<char, 1 << 16> bytes;
  const ssize_t got = read(guest.socket, bytes.data(), bytes.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  guest.in.append(bytes.data(), static_cast<std::size_t>(got));
  return HandleFrames(guest);
}

bool Server::Write(Guest& guest) {
  const ssize_t written = send(guest.socket, guest.out.data(), guest.out.size(), MSG_NOSIGNAL);
  if (written < 0) return errno == EAGAIN || errno == EINTR;
  guest.out.erase(0, static_cast<std::size_t>(written));
  return true;
}

bool Server::HandleFrames(Guest& guest) {
  RendezvousFrame frame;
  std::size_t at = 0;
  while (guest.in.size() - at >= sizeof(frame)) {
    std::memcpy(&frame, guest.in.data() + at, sizeof(frame));
    if (frame.bytes > kMostBytes) return false;
    if (guest.in.size() - at - sizeof(frame) < frame.bytes) break;
    Handle(guest, frame, guest.in.substr(at + sizeof(frame), frame.bytes));
    at += sizeof(frame) + frame.bytes;
  }
  guest.in.erase(0, at);
  return true;
}

void Server::Handle(Guest& guest, const RendezvousFrame& frame, std::string given) {
  switch (frame.kind) {
    case RendezvousFrame::kJoin: {
      std::int32_t size = 0;
      std::memcpy(&size, given.data(), std::min(sizeof(size), given.size()));
      guest.rank = frame.peer;
      size_ = std::max(size_, size);
      return;
    }
    case RendezvousFrame::kGather:
      return Gather(guest.rank, frame.ticket, guest.gathers++, std::move(given));
    case RendezvousFrame::kSend:
      return Send({guest.rank, frame.peer}, given);
    case RendezvousFrame::kReceive:
      return Receive({frame.peer, guest.rank}, frame.ticket);
    default:
      return;
  }
}

void Server::Gather(int rank, Ticket ticket, std::uint64_t number, std::string given) {
  if (!gone_.empty()) return AnswerNothing(rank, ticket, *gone_.begin());
  Round& round = rounds_[number];
  round.given[rank] = std::move(given);
  round.asked.push_back({.rank = rank, .ticket = ticket});
  if (static_cast<int>(round.given.size()) < size_) return;
  std::string list;
  for (const auto& [member, element] : round.given) AppendElement(&list, element);
  for (const Waiting& one : round.asked) Answer(one.rank, one.ticket, list);
  rounds_.erase(number);
}

void Server::Send(const Pair& way, const std::string& given) {
  std::string list;
  AppendElement(&list, given);
  std::deque<Waiting>& waiting = awaited_[way];
  if (waiting.empty()) {
    mail_[way].push_back(std::move(list));
    return;
  }
  Answer(way.second, waiting.front().ticket, list);
  waiting.pop_front();
}

void Server::Receive(const Pair& way, Ticket ticket) {
  std::deque<std::string>& there = mail_[way];
  if (!there.empty()) {
    Answer(way.second, ticket, there.front());
    there.pop_front();
  } else if (gone_.contains(way.first)) {
    AnswerNothing(way.second, ticket, way.first);
  } else {
    awaited_[way].push_back({.rank = way.second, .ticket = ticket});
  }
}

void Server::Answer(int rank, Ticket ticket, const std::string& list) {
  Reply(rank, {.ticket = ticket, .bytes = list.size(), .kind = RendezvousFrame::kAnswer}, list);
}

void Server::AnswerNothing(int rank, Ticket ticket, int ended) {
  Reply(rank, {.ticket = ticket, .kind = RendezvousFrame::kGone, .peer = ended}, {});
}

void Server::Reply(int rank, const RendezvousFrame& frame, const std::string& list) {
  for (const auto& guest : guests_) {
    if (guest->rank != rank) continue;
    guest->out.append(reinterpret_cast<const char*>(&frame), sizeof(frame));
    guest->out.append(list);
  }
}

// Cleans up after a member that ended.
void Server::Forget(int rank) {
  gone_.insert(rank);
  for (const auto& [number, round] : rounds_) {
    for (const Waiting& one : round.asked) AnswerNothing(one.rank, one.ticket, rank);
  }
  rounds_.clear();
  for (auto& [way, tickets] : awaited_) {
    if (way.first != rank) continue;
    for (const Waiting& one : tickets) AnswerNothing(one.rank, one.ticket, rank);
    tickets.clear();
  }
}

bool Server::HasUntold() const {
  const auto is_untold = [](const Waiting& one) { return !one.is_told; };
  for (const auto& [number, round] : rounds_) {
    if (std::any_of(round.asked.begin(), round.asked.end(), is_untold)) return true;
  }
  for (const auto& [way, waiting] : awaited_) {
    if (std::any_of(waiting.begin(), waiting.end(), is_untold)) return true;
  }
  return false;
}

// Tells each member whose request has waited for long, once, for whom it waits.
void Server::TellLate() {
  for (auto& [number, round] : rounds_) {
    for (Waiting& one : round.asked) {
      if (IsLate(one)) Tell(&one, MissingIn(round));
    }
  }
  for (auto& [way, waiting] : awaited_) {
    for (Waiting& one : waiting) {
      if (IsLate(one)) Tell(&one, {way.first});
    }
  }
}

void Server::Tell(Waiting* waiting, const std::vector<int>& missing) {
  waiting->is_told = true;
  std::string list;
  for (const int rank : missing) AppendElement(&list, std::to_string(rank));
  const RendezvousFrame frame = {
      .ticket = waiting->ticket, .bytes = list.size(), .kind = RendezvousFrame::kLate};
  Reply(waiting->rank, frame, list);
}

std::vector<int> Server::MissingIn(const Round& round) const {
  std::vector<int> missing;
  for (int rank = 0; rank < size_; ++rank) {
    if (!round.given.contains(rank)) missing.push_back(rank);
  }
  return missing;
}

// Returns false if there can be no more threads. All signals are blocked in the new one, so that
// the program's own threads handle them.
bool StartServer(int listener, std::chrono::milliseconds late_after) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_started = true;
  try {
    std::thread([listener, late_after] { Server(listener, late_after).Serve(); }).detach();
  } catch (const std::system_error&) {
    is_started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_started;
}

}  // namespace

bool OpenRendezvous(const std::string& name, std::chrono::milliseconds late_after) {
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return false;
  socklen_t bytes = 0;
  const sockaddr_un address = AddressOf(name, &bytes);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      listen(listener, SOMAXCONN) != 0) {
    close(listener);
    return false;
  }
  const bool is_served = StartServer(listener, late_after);
  if (!is_served) close(listener);
  return is_served;
}

}  // namespace memtrace::card
