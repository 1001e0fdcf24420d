// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "interpose/simulated_card/collectives/number_text.h"
#include "interpose/simulated_card/collectives/rendezvous.h"
#include "interpose/simulated_card/collectives/rendezvous_frame.h"

namespace memtrace::card {
namespace {

bool WriteAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool ReadAll(int socket, void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = read(socket, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

std::vector<std::string> Elements(std::string_view list) {
  std::vector<std::string> elements;
  std::uint64_t bytes = 0;
  while (list.size() >= sizeof(bytes)) {
    std::memcpy(&bytes, list.data(), sizeof(bytes));
    list.remove_prefix(sizeof(bytes));
    elements.emplace_back(list.substr(0, bytes));
    list.remove_prefix(elements.back().size());
  }
  return elements;
}

}  // namespace

std::unique_ptr<RendezvousMember> RendezvousMember::Join(const std::string& name, int rank,
                                                         int size) {
  const int opened = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (opened < 0) return nullptr;
  // The member closes the socket.
  std::unique_ptr<RendezvousMember> member(new RendezvousMember(opened));
  socklen_t bytes = 0;
  const sockaddr_un address = AddressOf(name, &bytes);
  if (connect(opened, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) return nullptr;
  const std::int32_t members = size;
  member->Ask(RendezvousFrame::kJoin, rank,
              {reinterpret_cast<const char*>(&members), sizeof(members)});
  return member;
}

RendezvousMember::~RendezvousMember() { close(socket_); }

void RendezvousMember::Leave() { shutdown(socket_, SHUT_RDWR); }

// A request that cannot be written counts as one that is not answered.
RendezvousMember::Ticket RendezvousMember::Ask(std::uint32_t kind, int peer,
                                               std::string_view given) {
  const RendezvousFrame frame = {
      .ticket = next_, .bytes = given.size(), .kind = kind, .peer = peer};
  if (WriteAll(socket_, {reinterpret_cast<const char*>(&frame), sizeof(frame)}))
    WriteAll(socket_, given);
  return next_++;
}

RendezvousMember::Ticket RendezvousMember::Gather(std::string_view given) {
  return Ask(RendezvousFrame::kGather, 0, given);
}

RendezvousMember::Ticket RendezvousMember::Receive(int from) {
  return Ask(RendezvousFrame::kReceive, from, {});
}

void RendezvousMember::Send(int to, std::string_view given) {
  Ask(RendezvousFrame::kSend, to, given);
}

std::optional<RendezvousMember::Ticket> RendezvousMember::ReadFrame(std::vector<int>* late) {
  RendezvousFrame frame;
  if (!ReadAll(socket_, &frame, sizeof(frame))) return std::nullopt;
  std::string list(frame.bytes, '\0');
  if (!ReadAll(socket_, list.data(), list.size())) return std::nullopt;
  if (frame.kind == RendezvousFrame::kLate) {
    for (const std::string& rank : Elements(list)) {
      std::string_view text = rank;
      if (const std::optional<int> number = TakeNumber(&text)) late->push_back(*number);
    }
    return frame.ticket;
  }
  if (const auto take = later_.extract(frame.ticket)) {
    if (frame.kind == RendezvousFrame::kAnswer) take.mapped()(Elements(list));
    return frame.ticket;
  }
  auto& answer = answers_[frame.ticket];
  if (frame.kind == RendezvousFrame::kAnswer) answer = Elements(list);
  if (frame.kind == RendezvousFrame::kGone) ended_ = frame.peer;
  return frame.ticket;
}

void RendezvousMember::ReadArrived() {
  std::vector<int> late;
  pollfd readable = {.fd = socket_, .events = POLLIN, .revents = 0};
  while (poll(&readable, 1, 0) > 0 && ReadFrame(&late)) {
  }
}

void RendezvousMember::AnswerLater(Ticket ticket, Take take) {
  const auto arrived = answers_.extract(ticket);
  if (!arrived) {
    later_.emplace(ticket, std::move(take));
  } else if (arrived.mapped()) {
    take(*arrived.mapped());
  }
  ReadArrived();
}

std::optional<std::vector<std::string>> RendezvousMember::Answer(
    Ticket ticket, const std::function<void(const std::vector<int>&)>& is_late) {
  auto found = answers_.find(ticket);
  while (found == answers_.end()) {
    std::vector<int> late;
    const std::optional<Ticket> of = ReadFrame(&late);
    if (!of) return std::nullopt;
    if (!late.empty() && *of == ticket && is_late) is_late(late);
    found = answers_.find(ticket);
  }
  return std::move(answers_.extract(found).mapped());
}

}  // namespace memtrace::card
