// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/explanation.h"

#include <string_view>

#include "interpose/core/size_text.h"
#include "messages/message.h"
#include "messages/role_words.h"
#include "profiler/trace/events/failure_cause.h"
#include "profiler/trace/events/printable_text.h"

namespace memtrace {
namespace {

struct Verdict {
  std::string cause;
  std::string remark = {};  // what the program can do about it, or what it could have used
};

// Returns nothing if the private pools would not be enough for the request.
std::string FreeInPools(const trace::OutOfMemory& event, const trace::CardLedger& card) {
  if (card.private_pools == 0 || card.private_pools < trace::ShortBy(event)) return "";
  return Message("$0 is free in private pools.", SizeText(card.private_pools));
}

uint64_t Unused(const trace::CardLedger& card) { return card.free + card.cached + card.holes; }

Verdict TooLarge(const trace::OutOfMemory& event, const trace::CardLedger& card) {
  if (trace::IsLargerThanCard(event, card))
    return {Message("The card is too small for this request: it has $0, of which $1 is unused.",
                    SizeText(card.total), SizeText(Unused(card)))};
  return {Message("The request is larger than the unused memory, although most of the card is "
                  "unused ($0 of $1).",
                  SizeText(Unused(card)), SizeText(card.total)),
          FreeInPools(event, card)};
}

std::string FullCard(const trace::OutOfMemory& event, const trace::CardLedger& card) {
  if (Unused(card) < event.requested) return Message("The card is full, not fragmented.");
  return Message("The card is full: $0 of $1 is in use.", SizeText(card.live_allocated),
                 SizeText(card.total));
}

Verdict VerdictOf(const trace::OutOfMemory& event, const trace::CardLedger& card) {
  switch (trace::CauseOfFailure(event, card)) {
    case trace::FailureCause::kLimit:
      return {
          Message("The limit set for this process ($0) is reached; the card itself is not full.",
                  SizeText(event.limit)),
          Message("Raise it with torch.cuda.set_per_process_memory_fraction().")};
    case trace::FailureCause::kTooLarge:
      return TooLarge(event, card);
    case trace::FailureCause::kCached:
      return {Message("The cache is large enough, but torch does not release it for this request, "
                      "because a memory pool or a graph capture is in use."),
              Message("Call torch.cuda.empty_cache() before this line.")};
    case trace::FailureCause::kStreamWait:
      return {Message("$0 is freed but still waits for other streams (record_stream).",
                      SizeText(card.stream_wait)),
              Message("Call torch.cuda.synchronize() before this line.")};
    case trace::FailureCause::kFragmentation:
      return {Message("Enough memory is free, but in pieces: the largest hole is $0.",
                      SizeText(card.largest_hole))};
    case trace::FailureCause::kOtherProcess:
      return {Message("Other processes hold $0 of this card.", SizeText(card.other_processes))};
    default:
      return {FullCard(event, card), FreeInPools(event, card)};
  }
}

std::string Shortfall(const trace::OutOfMemory& event) {
  if (trace::ShortBy(event) == 0)
    return Message("The request for $0 failed, although $1 was available.",
                   SizeText(event.requested), SizeText(event.obtainable));
  return Message("The request for $0 failed; at most $1 was available ($2 short).",
                 SizeText(event.requested), SizeText(event.obtainable),
                 SizeText(trace::ShortBy(event)));
}

// Shortens an owner's name, which becomes part of an exception's text: a program may choose any
// tag.
std::string Name(std::string_view owner) {
  constexpr size_t kMost = 80;  // characters
  size_t characters = 0;
  size_t end = 0;
  while (end < owner.size() && characters < kMost) {
    const auto point = trace::DecodeUtf8(owner, end);
    end += point ? point->bytes : 1;
    ++characters;
  }
  return trace::PrintableText(owner.substr(0, end)) + (end < owner.size() ? "..." : "");
}

// Returns "parameters of policy".
std::string Name(const recorder::HeldBytes& held) {
  static_assert(kRoleWords.size() == trace::kRoleCount);
  const bool is_unknown = held.role == trace::Role::kUnknown;
  if (held.owner.empty()) {
    return is_unknown ? Message("blocks of unknown role")
                      : MessageOf(kRoleWords[static_cast<size_t>(held.role)]);
  }
  std::string owner = Name(held.owner);
  if (is_unknown) return owner;
  return Message("$0 of $1", MessageOf(kRoleWords[static_cast<size_t>(held.role)]), owner);
}

std::string Holders(const std::vector<recorder::HeldBytes>* owners) {
  if (owners == nullptr)
    return Message("It is not known who holds the memory, because no trace is recorded.");
  if (owners->empty()) return Message("No recorded block is in use.");
  std::string names;
  for (const auto& owner : *owners)
    names += (names.empty() ? "" : ", ") + Name(owner) + " " + SizeText(owner.bytes);
  return CountedMessage(owners->size(), "The largest holder is $0.", "The largest holders are $0.",
                        names);
}

}  // namespace

std::string ExplainOutOfMemory(const trace::OutOfMemory& event,
                               const std::vector<recorder::HeldBytes>* owners,
                               const std::string& trace_path) {
  constexpr std::string_view kBegin = "memtrace: ";
  const trace::CardLedger* card = trace::FailedCard(event);
  const Verdict verdict = card != nullptr ? VerdictOf(event, *card) : Verdict{};
  std::string text;
  const auto add = [&](const std::string& line) { text.append(kBegin).append(line).append("\n"); };
  add(JoinedSentences({verdict.cause, Shortfall(event)}));
  add(Holders(owners));
  if (!verdict.remark.empty()) add(verdict.remark);
  if (!trace_path.empty())
    text.append(kBegin).append(Message("To see what filled the card, run: memtrace report $0",
                                       trace::PrintableText(trace_path)));
  return text;
}

}  // namespace memtrace
