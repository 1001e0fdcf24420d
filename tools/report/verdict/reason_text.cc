// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict/reason_text.h"

#include <cstdint>

#include "messages/message.h"
#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/frames.h"
#include "tools/remedies/catalogue.h"
#include "tools/report/verdict/others_text.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::CardExplanation;
using analysis::Cause;
using analysis::ExplainedFailure;
using analysis::Ledger;
using analysis::LedgerPart;

std::string Held(const Ledger& ledger, LedgerPart part) {
  return FormatBytes(ledger.positive(part));
}

std::string UnusedText(const Ledger& ledger) { return FormatBytes(analysis::Unused(ledger)); }

// True if it is known how much more memory the step would have needed.
bool IsRestKnown(const ExplainedFailure& failure) {
  const analysis::RestOfStep& rest = failure.verdict.rest;
  return rest.rise && !rest.at_least;
}

std::string LimitReason(const ExplainedFailure& failure) {
  return Message("The limit set for this process ($0) is reached; the card itself is not full.",
                 FormatBytes(failure.request->limit));
}

std::string TooLargeReason(const CardExplanation& card, const ExplainedFailure& failure) {
  const Ledger& ledger = card.ledger;
  if (failure.verdict.is_larger_than_card) {
    return Message("The card is too small for this request: it has $0, of which $1 is unused.",
                   FormatBytes(ledger.total), UnusedText(ledger));
  }
  return Message(
      "The request is larger than the unused memory, although most of the card is unused ($0 of "
      "$1).",
      UnusedText(ledger), FormatBytes(ledger.total));
}

// Allocators give whole cached segments back before they fail, with these exceptions.
std::string CachedReason(const ExplainedFailure& failure) {
  const std::string cached = FormatBytes(failure.verdict.releasable);
  const std::string cure = MessageOf(remedies::RowOf(remedies::Id::kEmptyCache).change);
  if (analysis::IsOfAnotherLibrary(failure.request->stack)) {
    return Message(
        "$0 is cached and unused, but another library asked the driver itself, for which torch "
        "does not empty its cache. This does: $1.",
        cached, cure);
  }
  return Message(
      "$0 is cached and unused, but torch does not empty its cache for a request inside a memory "
      "pool (torch.cuda.use_mem_pool) or a graph capture. This does: $1.",
      cached, cure);
}

std::string StreamWaitReason(const Ledger& ledger) {
  return Message("Enough memory was freed, but $0 of it still waits for another stream.",
                 Held(ledger, LedgerPart::kStreamWait));
}

// Used only if the rest of the step would have fitted into unused memory or, if that is not known,
// if much of the card is unused.
std::string FragmentationReason(const CardExplanation& card, const ExplainedFailure& failure) {
  const std::string unused = UnusedText(card.ledger);
  if (IsRestKnown(failure)) {
    return Message(
        "The card is fragmented, not full: $0 is unused, but in pieces that cannot be joined.",
        unused);
  }
  return Message(
      "The card is fragmented: $0 is unused, but in pieces that cannot be joined. In one piece it "
      "would have served this request; what the program would have requested next is not known.",
      unused);
}

std::string OtherProcessReason(const CardExplanation& card, const ExplainedFailure& failure) {
  std::string others = OthersClause(card);
  if (others.empty()) {
    others = Message("Other processes hold $0 of the card",
                     Held(card.ledger, LedgerPart::kOtherProcesses));
  }
  return IsRestKnown(failure) ? Message("$0; without them the step would have gone on.", others)
                              : Message("$0; without them the request would have fit.", others);
}

// A snapshot of torch has the driver's free bytes, but not the card's size.
std::string ReasonWithoutSize(const CardExplanation& card, const ExplainedFailure& failure) {
  const Ledger& ledger = card.ledger;
  const std::string in_use = Held(ledger, LedgerPart::kLive);
  const std::string free = Held(ledger, LedgerPart::kFree);
  if (analysis::Unused(ledger) >= failure.request->bytes)
    return Message("$0 is in use, and the driver had $1 left.", in_use, free);
  return Message(
      "$0 is in use, and the driver had $1 left: even in one piece, all unused memory would not "
      "have served the request.",
      in_use, free);
}

// Names what fills a card beside blocks in use, if it is more than 5 percent of the card. Private
// pools and memory outside the allocator have sentences of their own.
std::string RestOfCardSentences(const Ledger& ledger) {
  constexpr uint64_t kTwentieth = 20;
  const auto matters = [&ledger](LedgerPart part) {
    return ledger.positive(part) > ledger.total / kTwentieth;
  };
  return JoinedSentences(
      {matters(LedgerPart::kContext)
           ? Message("The context of the driver and the CUDA libraries takes $0.",
                     Held(ledger, LedgerPart::kContext))
           : "",
       matters(LedgerPart::kOtherProcesses) ? Message("Other processes hold $0 of the card.",
                                                      Held(ledger, LedgerPart::kOtherProcesses))
                                            : ""});
}

// Unused memory in pieces that would serve the request, but not the rest of the step, is not the
// cause. It is mentioned so that nobody looks for it.
std::string CapacityReason(const CardExplanation& card, const ExplainedFailure& failure) {
  const Ledger& ledger = card.ledger;
  if (!ledger.total_known) return ReasonWithoutSize(card, failure);
  const std::string in_use = Held(ledger, LedgerPart::kLive);
  const std::string total = FormatBytes(ledger.total);
  // Otherwise something beside blocks in use fills it, such as pools, which the ledger and the
  // contributing causes name.
  const bool blocks_fill_it = ledger.positive(LedgerPart::kLive) > ledger.total / 2;
  if (analysis::Unused(ledger) < failure.request->bytes) {
    const std::string full =
        blocks_fill_it
            ? Message("The card is full, not fragmented: $0 of $1 is in use.", in_use, total)
            : Message("The card is full, not fragmented.");
    return JoinedSentences({full, RestOfCardSentences(ledger)});
  }
  std::string full = JoinedSentences(
      {blocks_fill_it ? Message("The card is full: $0 of $1 is in use.", in_use, total)
                      : Message("The card is full."),
       RestOfCardSentences(ledger)});
  const auto& rise = failure.verdict.rest.rise;
  if (!rise || *rise <= analysis::Unused(ledger)) return full;
  return JoinedSentences(
      {full, Message("The $0 that is unused in pieces would have served this request, but not the "
                     "rest of the step.",
                     UnusedText(ledger))});
}

std::string BytesText(uint64_t bytes) {
  return CountedMessage(bytes, "1 byte", "$0 bytes", FormatCount(bytes));
}

std::string ShortageSentence(const CardExplanation& card, const ExplainedFailure& failure) {
  const analysis::ExplainedRequest& request = *failure.request;
  const uint64_t free = card.ledger.positive(LedgerPart::kFree);
  const uint64_t short_by = failure.verdict.short_by;
  const std::string bytes = FormatBytes(request.bytes);
  if (short_by > 0) {
    const std::string obtainable = FormatBytes(request.obtainable);
    const bool is_near = obtainable == bytes;  // then the bytes tell them apart
    return Message("The request for $0 failed; at most $1 was available ($2 short).",
                   is_near ? BytesText(request.bytes) : bytes,
                   is_near ? BytesText(request.obtainable) : obtainable, FormatBytes(short_by));
  }
  if (free < request.bytes) return Message("The request for $0 failed.", bytes);
  return Message(
      "The request for $0 failed while $1 of the card was free: torch takes memory from the driver "
      "in pieces of up to 20 MiB, and the last of them did not fit.",
      bytes, FormatBytes(free));
}

// Says when a request failed, and its line or the library that made it, if one is known.
std::string WhereSentence(const analysis::ExplainedRequest& request) {
  const std::string position = DescribePosition(request.at);
  if (const std::string line = analysis::UserLine(request); !line.empty())
    return Message("OUT OF MEMORY $0, at $1.", position, Printable(line));
  if (!analysis::LibraryOfSite(request.site).empty())
    return Message("OUT OF MEMORY $0, in $1.", position, Printable(request.site));
  return Message("OUT OF MEMORY $0.", position);
}

}  // namespace

std::string FailureSentence(const CardExplanation& card, const ExplainedFailure& failure) {
  return JoinedSentences({WhereSentence(*failure.request), ShortageSentence(card, failure)});
}

std::string ReasonSentence(const CardExplanation& card, const ExplainedFailure& failure) {
  switch (failure.verdict.cause) {
    case Cause::kNone:
      return "";
    case Cause::kLimit:
      return LimitReason(failure);
    case Cause::kTooLarge:
      return TooLargeReason(card, failure);
    case Cause::kCached:
      return CachedReason(failure);
    case Cause::kStreamWait:
      return StreamWaitReason(card.ledger);
    case Cause::kFragmentation:
      return FragmentationReason(card, failure);
    case Cause::kOtherProcess:
      return OtherProcessReason(card, failure);
    case Cause::kCapacity:
      return CapacityReason(card, failure);
  }
  return "";
}

}  // namespace memtrace::report
