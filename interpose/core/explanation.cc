// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/explanation.h"

#include <cstdio>
#include <string_view>

#include "messages/message.h"
#include "profiler/trace/events/failure_cause.h"
#include "profiler/trace/events/printable_text.h"
#include "tools/remedies/catalogue.h"

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

// Returns "; 512.00 MiB lie free in private pools", or "" if they would not be enough for the
// request.
std::string FreeInPools(const trace::OutOfMemory& event, const trace::CardLedger& card) {
  if (card.private_pools == 0 || card.private_pools < trace::ShortBy(event)) return "";
  return "; " + Size(card.private_pools) + " lie free in private pools";
}

// Returns the change to make, in the words of the report.
std::string ChangeOf(remedies::Id id) { return MessageOf(remedies::RowOf(id).change); }

std::string Cause(const trace::OutOfMemory& event, const trace::CardLedger& card) {
  switch (trace::CauseOfFailure(event, card)) {
    case trace::FailureCause::kLimit:
      return "the limit of " + Size(event.limit) +
             " set for this process is reached, the card is not full (" +
             ChangeOf(remedies::Id::kHigherLimit) + ")";
    case trace::FailureCause::kTooLarge:
      return trace::IsLargerThanCard(event, card)
                 ? "the request is larger than the card, which has " + Size(card.total)
                 : "the request is larger than what is left of the card, which is mostly free" +
                       FreeInPools(event, card);
    case trace::FailureCause::kCached:
      return "the cache would do, but torch does not give it back for this request (a memory pool "
             "or a graph capture is in use): " +
             ChangeOf(remedies::Id::kEmptyCache);
    case trace::FailureCause::kStreamWait:
      return Size(card.stream_wait) +
             " is freed but still waits for other streams (record_stream): " +
             ChangeOf(remedies::Id::kWaitForStreams);
    case trace::FailureCause::kFragmentation:
      return "enough is free, but in pieces: the largest is " + Size(card.largest_hole);
    case trace::FailureCause::kOtherProcess:
      return "other processes hold " + Size(card.other_processes) + " of this card";
    default:
      break;
  }
  const bool is_in_pieces = card.free + card.cached + card.holes >= event.requested;
  const std::string live =
      ": " + Size(card.live_allocated) + " of " + Size(card.total) + " are live";
  return "the card is full" + (is_in_pieces ? live : "; it is not fragmented") +
         FreeInPools(event, card);
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

std::string Names(const std::vector<recorder::NamedBytes>& owners) {
  std::string text;
  for (const auto& owner : owners) {
    text += (text.empty() ? "" : ", ") + Name(owner.name) + " " + Size(owner.bytes);
  }
  return text.empty() ? "nobody" : text;
}

}  // namespace

std::string ExplainOutOfMemory(const trace::OutOfMemory& event,
                               const std::vector<recorder::NamedBytes>* owners,
                               const std::string& trace_path) {
  std::string text = "memtrace: ";
  if (const trace::CardLedger* card = trace::FailedCard(event)) text += Cause(event, *card);
  text += "; " + Size(event.requested) + " were asked for and " + Size(event.obtainable) +
          " could be had: short by " + Size(trace::ShortBy(event)) + ".\n";
  text += owners != nullptr
              ? "memtrace: most is held by " + Names(*owners) + ".\n"
              : "memtrace: who holds it is not known, because no trace is recorded.\n";
  if (!trace_path.empty())
    text += "memtrace: what filled the card: memtrace report " + trace::PrintableText(trace_path);
  return text;
}

}  // namespace memtrace
