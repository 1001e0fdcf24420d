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
  explicit Server(int listener) : listener_(listener) {}
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
  struct Round {
    std::map<int, std::string> given;  // by rank
    std::vector<std::pair<int, Ticket>> asked;
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
  void AnswerNothing(int rank, Ticket ticket) { Reply(rank, ticket, RendezvousFrame::kGone, {}); }
  void Reply(int rank, Ticket ticket, RendezvousFrame::Kind kind, const std::string& list);
  void Forget(int rank);

  const int listener_;
  int size_ = 0;  // set by the first member's kJoin
  Guests guests_;
  std::set<int> gone_;
  std::map<std::uint64_t, Round> rounds_;
  std::map<Pair, std::deque<std::string>> mail_;
  std::map<Pair, std::deque<Ticket>> awaited_;
};

void Server::Turn() {
  std::vector<pollfd> watched = {{.fd = listener_, .events = POLLIN, .revents = 0}};
  for (const auto& guest : guests_) {
    const auto events = static_cast<short>(guest->out.empty() ? POLLIN : POLLIN | POLLOUT);
    watched.push_back({.fd = guest->socket, .events = events, .revents = 0});
  }
  if (poll(watched.data(), watched.size(), -1) < 0) return;
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
  if (!gone_.empty()) return AnswerNothing(rank, ticket);
  Round& round = rounds_[number];
  round.given[rank] = std::move(given);
  round.asked.emplace_back(rank, ticket);
  if (static_cast<int>(round.given.size()) < size_) return;
  std::string list;
  for (const auto& [member, element] : round.given) AppendElement(&list, element);
  for (const auto& [member, asked] : round.asked) Answer(member, asked, list);
  rounds_.erase(number);
}

void Server::Send(const Pair& way, const std::string& given) {
  std::string list;
  AppendElement(&list, given);
  std::deque<Ticket>& waiting = awaited_[way];
  if (waiting.empty()) {
    mail_[way].push_back(std::move(list));
    return;
  }
  Answer(way.second, waiting.front(), list);
  waiting.pop_front();
}

void Server::Receive(const Pair& way, Ticket ticket) {
  std::deque<std::string>& there = mail_[way];
  if (!there.empty()) {
    Answer(way.second, ticket, there.front());
    there.pop_front();
  } else if (gone_.contains(way.first)) {
    AnswerNothing(way.second, ticket);
  } else {
    awaited_[way].push_back(ticket);
  }
}

void Server::Answer(int rank, Ticket ticket, const std::string& list) {
  Reply(rank, ticket, RendezvousFrame::kAnswer, list);
}

void Server::Reply(int rank, Ticket ticket, RendezvousFrame::Kind kind, const std::string& list) {
  const RendezvousFrame frame = {.ticket = ticket, .bytes = list.size(), .kind = kind, .peer = 0};
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
    for (const auto& [member, ticket] : round.asked) AnswerNothing(member, ticket);
  }
  rounds_.clear();
  for (auto& [way, tickets] : awaited_) {
    if (way.first != rank) continue;
    for (const Ticket ticket : tickets) AnswerNothing(way.second, ticket);
    tickets.clear();
  }
}

}  // namespace

bool OpenRendezvous(const std::string& name) {
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return false;
  socklen_t bytes = 0;
  const sockaddr_un address = AddressOf(name, &bytes);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      listen(listener, SOMAXCONN) != 0) {
    close(listener);
    return false;
  }
  // All signals are blocked in this thread, so that the program's own threads handle them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([listener] { Server(listener).Serve(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return true;
}

}  // namespace memtrace::card
