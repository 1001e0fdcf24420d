// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/peak_section.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/sections/holder_table.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::CardExplanation;
using analysis::CardMoment;
using analysis::Ledger;
using analysis::LedgerPart;
using nlohmann::ordered_json;

// The parts of reserved memory beside blocks in use.
constexpr std::array kParts = {LedgerPart::kCached, LedgerPart::kStreamWait, LedgerPart::kHoles,
                               LedgerPart::kPrivatePools};

uint64_t Allocated(const Ledger& ledger) {
  return static_cast<uint64_t>(
      std::max<int64_t>(ledger.bytes(LedgerPart::kLive) + ledger.bytes(LedgerPart::kRounding), 0));
}

uint64_t NotInUse(const Ledger& ledger) {
  uint64_t bytes = 0;
  for (const LedgerPart part : kParts) bytes += ledger.positive(part);
  return bytes;
}

uint64_t Reserved(const Ledger& ledger) { return Allocated(ledger) + NotInUse(ledger); }

uint64_t Left(const Ledger& ledger) {
  return ledger.positive(LedgerPart::kFree) + ledger.positive(LedgerPart::kCached);
}

std::string PartText(const Ledger& ledger, LedgerPart part) {
  const std::string bytes = FormatBytes(ledger.positive(part));
  switch (part) {
    case LedgerPart::kCached:
      return ledger.pieces_known ? Message("$0 cached", bytes)
                                 : Message("$0 cached or in holes", bytes);
    case LedgerPart::kStreamWait:
      return Message("$0 waiting for other streams", bytes);
    case LedgerPart::kHoles:
      return ledger.largest_hole > 0 ? Message("$0 in holes beside blocks (largest $1)", bytes,
                                               FormatBytes(ledger.largest_hole))
                                     : Message("$0 in holes beside blocks", bytes);
    case LedgerPart::kPrivatePools:
      return Message("$0 free in private pools", bytes);
    default:
      return "";
  }
}

// Returns "780.0 MiB in use, 16.90 GiB cached, 50.0 MiB in holes beside blocks (largest 14.0 MiB)";
// parts without bytes are left out.
std::string PartsText(const Ledger& ledger) {
  std::vector<std::string> texts = {Message("$0 in use", FormatBytes(Allocated(ledger)))};
  for (const LedgerPart part : kParts)
    if (ledger.positive(part) > 0) texts.push_back(PartText(ledger, part));
  return absl::StrJoin(texts, ", ");
}

Facts ReservedFacts(const CardExplanation& card) {
  Facts facts;
  if (card.most_reserved) {
    const Ledger& ledger = card.most_reserved->ledger;
    facts.rows.push_back(
        {Message("reserved"),
         Message("$0, $1: $2", FormatBytes(Reserved(ledger)),
                 DescribePosition(card.most_reserved->when.at), PartsText(ledger))});
  }
  if (const uint64_t retries = card.retries.value_or(0); retries > 0) {
    facts.rows.push_back(
        {"torch",
         CountedMessage(retries, "gave back its cache once to serve a request",
                        "gave back its cache $0 times to serve requests", FormatCount(retries))});
  }
  if (const uint64_t waits = card.waits.value_or(0); waits > 0) {
    facts.rows.push_back(
        {"torch", CountedMessage(waits, "waited for all streams once",
                                 "waited for all streams $0 times", FormatCount(waits))});
  }
  return facts;
}

Facts AssumedFacts(const analysis::Breakdown& peak) {
  const uint64_t assumed = AssumedBytes(peak);
  if (assumed == 0) return {};
  return {.rows = {{Message("assumed"),
                    Message("$0 of the peak is workspaces. The simulated card assumes their size "
                            "(memtrace explain workspaces).",
                            FormatBytes(assumed))}}};
}

// Says what lay in holes; empty if they are small beside what was left.
std::string HolesSentence(const Ledger& ledger) {
  const uint64_t holes = ledger.positive(LedgerPart::kHoles);
  if (holes <= Left(ledger) / 4) return "";
  if (holes == ledger.largest_hole)
    return Message("Another $0 was free in one hole between blocks.", FormatBytes(holes));
  return Message("Another $0 was free in holes between blocks (largest $1).", FormatBytes(holes),
                 FormatBytes(ledger.largest_hole));
}

// Returns the ledger when most was in use or waiting; the report's own if the trace has no other.
const Ledger& FullestLedger(const CardExplanation& card) {
  return card.fullest ? card.fullest->ledger : card.ledger;
}

}  // namespace

Section PeakSection(const CardExplanation& card) {
  Section section{.id = "peak", .title = Message("PEAK")};
  if (card.peak.bytes == 0) return section;
  section.subtitle = Message("$0 requested at one moment, $1 (exact, by replay of the trace)",
                             FormatBytes(card.peak.bytes), DescribePosition(card.peak_at));
  section.parts = ShareTables(card.peak);
  if (Facts facts = AssumedFacts(card.peak); !facts.rows.empty())
    section.parts.emplace_back(std::move(facts));
  if (Facts facts = ReservedFacts(card); !facts.rows.empty())
    section.parts.emplace_back(std::move(facts));
  return section;
}

ordered_json ReservedPeakJson(const CardExplanation& card) {
  if (!card.most_reserved) return nullptr;
  const Ledger& ledger = card.most_reserved->ledger;
  ordered_json json = {{"bytes", Reserved(ledger)},
                       {"event", card.most_reserved->when.ordinal},
                       {"step", card.most_reserved->when.at.step},
                       {"phase", std::string(PhaseName(card.most_reserved->when.at.phase))},
                       {"allocated", Allocated(ledger)}};
  for (const LedgerPart part : kParts)
    json[std::string(LedgerPartName(part))] = ledger.positive(part);
  json["largest_hole"] = ledger.largest_hole;
  const auto count = [](const std::optional<uint64_t>& times) {
    return times ? ordered_json(*times) : ordered_json(nullptr);
  };
  json["retries"] = count(card.retries);
  json["waits"] = count(card.waits);
  return json;
}

std::string WaitingSentence(const CardExplanation& card) {
  if (!card.fullest) return "";
  const Ledger& ledger = card.fullest->ledger;
  const uint64_t waiting = ledger.positive(LedgerPart::kStreamWait);
  const bool fills_it = ledger.total_known ? waiting > Left(ledger) && waiting >= ledger.total / 10
                                           : waiting > Allocated(ledger);
  if (!fills_it) return "";
  const std::string position = DescribePosition(card.fullest->when.at);
  const std::string in_use = FormatBytes(Allocated(ledger));
  if (!ledger.total_known)
    return Message(
        "$0 was freed but still waited for other streams (record_stream), $1. $2 was in use then.",
        FormatBytes(waiting), position, in_use);
  return Message(
      "$0 of card $1's $2 was freed but still waited for other streams (record_stream), $3. $4 was "
      "in use then.",
      FormatBytes(waiting), card.index, FormatBytes(ledger.total), position, in_use);
}

std::string ReservedSentence(const CardExplanation& card) {
  if (!card.most_reserved) return "";
  const Ledger& ledger = card.most_reserved->ledger;
  const uint64_t unused = NotInUse(ledger) - ledger.positive(LedgerPart::kStreamWait);
  constexpr uint64_t kQuarter = 4;
  constexpr uint64_t kTwentieth = 20;
  const bool is_much = unused > Reserved(ledger) / kQuarter &&
                       (!ledger.total_known || unused > ledger.total / kTwentieth);
  if (!is_much) return "";
  return Message("At most $0 was reserved, $1: $2.", FormatBytes(Reserved(ledger)),
                 DescribePosition(card.most_reserved->when.at), PartsText(ledger));
}

std::string LeftSentence(const CardExplanation& card) {
  if (!card.ledger.total_known) return "";
  const bool is_other = Left(FullestLedger(card)) < Left(card.ledger);
  const Ledger& ledger = is_other ? FullestLedger(card) : card.ledger;
  const std::string left = FormatBytes(Left(ledger));
  const std::string total = FormatBytes(ledger.total);
  const std::string text =
      is_other ? Message("When the card was fullest, $0 of card $1's $2 was still available.", left,
                         card.index, total)
               : Message("At that moment $0 of card $1's $2 was still available.", left, card.index,
                         total);
  // The sentence about reserved memory already mentions holes.
  const std::string holes = ReservedSentence(card).empty() ? HolesSentence(ledger) : "";
  return JoinedSentences({text, holes});
}

}  // namespace memtrace::report
