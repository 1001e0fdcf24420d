// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/explanation.h"

#include <cstdio>
#include <string_view>

#include "messages/message.h"
#include "profiler/trace/events/failure_cause.h"
#include "profiler/trace/events/printable_text.h"

namespace memtrace {
namespace {

// Formats bytes as torch's format_size does.
std::string Size(uint64_t bytes) {
  constexpr double kMiB = 1 << 20;
  constexpr double kGiB = 1 << 30;
  const auto amount = static_cast<double>(bytes);
  char text[32];
  if (amount >= kGiB) {
    std::snprintf(text, sizeof(text), "%.2f GiB", amount / kGiB);
  } else if (amount >= kMiB) {
    std::snprintf(text, sizeof(text), "%.2f MiB", amount / kMiB);
  } else {
    std::snprintf(text, sizeof(text), "%.2f KiB", amount / 1024);
  }
  return text;
}

struct Verdict {
  std::string cause;
  std::string remark = {};  // what the program can do about it, or what it could have used
};

// Returns nothing if the private pools would not be enough for the request.
std::string FreeInPools(const trace::OutOfMemory& event, const trace::CardLedger& card) {
  if (card.private_pools == 0 || card.private_pools < trace::ShortBy(event)) return "";
  return Message("$0 is free in private pools.", Size(card.private_pools));
}

Verdict TooLarge(const trace::OutOfMemory& event, const trace::CardLedger& card) {
  const std::string requested = Size(event.requested);
  if (!trace::IsLargerThanCard(event, card))
    return {Message("The request for $0 is larger than what is left of the card, although most of "
                    "the card is unused.",
                    requested),
            FreeInPools(event, card)};
  if (event.requested > card.total)
    return {Message("The request for $0 is larger than the card, which has $1.", requested,
                    Size(card.total))};
  return {
      Message("The request for $0 does not fit even on an empty card: of its $1, the CUDA "
              "context takes $2.",
              requested, Size(card.total), Size(card.context))};
}

std::string FullCard(const trace::OutOfMemory& event, const trace::CardLedger& card) {
  if (card.free + card.cached + card.holes < event.requested)
    return Message("The card is full, and fragmentation is not the reason.");
  return Message("The card is full: $0 of $1 is in use.", Size(card.live_allocated),
                 Size(card.total));
}

Verdict VerdictOf(const trace::OutOfMemory& event, const trace::CardLedger& card) {
  switch (trace::CauseOfFailure(event, card)) {
    case trace::FailureCause::kLimit:
      return {
          Message("The request would exceed this process's limit of $0 "
                  "(torch.cuda.set_per_process_memory_fraction); the card is not full.",
                  Size(event.limit))};
    case trace::FailureCause::kTooLarge:
      return TooLarge(event, card);
    case trace::FailureCause::kCached:
      return {Message("The cache is large enough, but torch does not release it for this request, "
                      "because a memory pool or a graph capture is in use."),
              Message("Call torch.cuda.empty_cache() before this line.")};
    case trace::FailureCause::kStreamWait:
      return {Message("$0 is freed but still waits for other streams (record_stream).",
                      Size(card.stream_wait)),
              Message("Call torch.cuda.synchronize() before this line.")};
    case trace::FailureCause::kFragmentation:
      return {Message("Enough memory is free, but in pieces: the largest hole is $0.",
                      Size(card.largest_hole))};
    case trace::FailureCause::kOtherProcess:
      return {Message("Other processes hold $0 of this card.", Size(card.other_processes))};
    default:
      return {FullCard(event, card), FreeInPools(event, card)};
  }
}

std::string Shortfall(const trace::OutOfMemory& event) {
  if (trace::ShortBy(event) == 0)
    return Message("The request for $0 failed, although $1 was available.", Size(event.requested),
                   Size(event.obtainable));
  return Message("The request for $0 failed; at most $1 was available ($2 short).",
                 Size(event.requested), Size(event.obtainable), Size(trace::ShortBy(event)));
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

std::string Holders(const std::vector<recorder::NamedBytes>* owners) {
  if (owners == nullptr)
    return Message("It is not known who holds the memory, because no trace is recorded.");
  if (owners->empty()) return Message("No recorded block is in use.");
  std::string names;
  for (const auto& owner : *owners)
    names += (names.empty() ? "" : ", ") + Name(owner.name) + " " + Size(owner.bytes);
  return CountedMessage(owners->size(), "The largest holder is $0.", "The largest holders are $0.",
                        names);
}

}  // namespace

std::string ExplainOutOfMemory(const trace::OutOfMemory& event,
                               const std::vector<recorder::NamedBytes>* owners,
                               const std::string& trace_path) {
  constexpr std::string_view kBegin = "memtrace: ";
  const trace::CardLedger* card = trace::FailedCard(event);
  const Verdict verdict = card != nullptr ? VerdictOf(event, *card) : Verdict{};
  std::string text(kBegin);
  if (!verdict.cause.empty()) text += verdict.cause + " ";
  text += Shortfall(event) + "\n";
  const auto add = [&](const std::string& line) { text.append(kBegin).append(line).append("\n"); };
  add(Holders(owners));
  if (!verdict.remark.empty()) add(verdict.remark);
  if (!trace_path.empty())
    text.append(kBegin).append(Message("To see what filled the card, run: memtrace report $0",
                                       trace::PrintableText(trace_path)));
  return text;
}

}  // namespace memtrace
