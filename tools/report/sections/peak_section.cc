// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/peak_section.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "nlohmann/json.hpp"
#include "tools/report/sections/holder_table.h"
#include "tools/report/sections/verdict_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::CardExplanation;
using analysis::CardMoment;
using analysis::Explanation;
using analysis::Ledger;
using analysis::LedgerPart;
using nlohmann::ordered_json;

// A part of reserved memory beside blocks in use, and its words in a sentence.
struct Component {
  LedgerPart part;
  std::string_view words;
};
constexpr std::array<Component, 4> kComponents = {
    {{LedgerPart::kCached, "cached"},
     {LedgerPart::kStreamWait, "waiting for other streams"},
     {LedgerPart::kHoles, "in holes beside blocks"},
     {LedgerPart::kPrivatePools, "free in private pools"}}};

const CardExplanation& CardOf(const Explanation& explanation) {
  return explanation.card_of_verdict();
}

uint64_t Allocated(const Ledger& ledger) {
  return static_cast<uint64_t>(
      std::max<int64_t>(ledger.bytes(LedgerPart::kLive) + ledger.bytes(LedgerPart::kRounding), 0));
}

uint64_t NotInUse(const Ledger& ledger) {
  uint64_t bytes = 0;
  for (const Component& component : kComponents) bytes += ledger.positive(component.part);
  return bytes;
}

uint64_t Reserved(const Ledger& ledger) { return Allocated(ledger) + NotInUse(ledger); }

uint64_t Left(const Ledger& ledger) {
  return ledger.positive(LedgerPart::kFree) + ledger.positive(LedgerPart::kCached);
}

// Returns "16.90 GiB cached, 50.0 MiB in holes beside blocks (largest 14.0 MiB)" without zeros.
std::string ComponentsText(const Ledger& ledger) {
  std::string text;
  for (const Component& component : kComponents) {
    const uint64_t bytes = ledger.positive(component.part);
    if (bytes == 0) continue;
    text += (text.empty() ? "" : ", ") + FormatBytes(bytes) + " ";
    text += component.part == LedgerPart::kCached && !ledger.pieces_known ? "cached or in holes"
                                                                          : component.words;
    if (component.part == LedgerPart::kHoles && ledger.largest_hole > 0)
      text += " (largest " + FormatBytes(ledger.largest_hole) + ")";
  }
  return text;
}

std::string Times(uint64_t count) { return count == 1 ? "once" : FormatCount(count) + " times"; }

// Returns "gave back its cache 3 times to serve a request, waited for all streams once".
std::string AllocatorRetriesText(const CardExplanation& card) {
  std::string text;
  if (card.retries.value_or(0) > 0)
    text = "gave back its cache " + Times(*card.retries) + " to serve a request";
  if (card.waits.value_or(0) > 0)
    text +=
        (text.empty() ? "" : ", ") + std::string("waited for all streams ") + Times(*card.waits);
  return text;
}

Facts ReservedFacts(const CardExplanation& card) {
  Facts facts;
  if (card.most_reserved) {
    const Ledger& ledger = card.most_reserved->ledger;
    const std::string rest = ComponentsText(ledger);
    facts.rows.push_back({"reserved", FormatBytes(Reserved(ledger)) + ", " +
                                          DescribePosition(card.most_reserved->when.at) + ": " +
                                          FormatBytes(Allocated(ledger)) + " in use" +
                                          (rest.empty() ? "" : ", " + rest)});
  }
  if (std::string had_to = AllocatorRetriesText(card); !had_to.empty())
    facts.rows.push_back({"torch", std::move(had_to)});
  return facts;
}

Facts AssumedFacts(const analysis::Breakdown& peak) {
  const uint64_t assumed = AssumedBytes(peak);
  if (assumed == 0) return {};
  return {.rows = {{"assumed", FormatBytes(assumed) +
                                   " of the peak are workspaces whose size the simulated card "
                                   "assumes (docs/design/simulated-card.md)"}}};
}

// Returns ", beside 120.0 MiB in holes (largest 60.0 MiB)"; empty if they are small beside what was
// left.
std::string HolesText(const Ledger& ledger) {
  const uint64_t holes = ledger.positive(LedgerPart::kHoles);
  if (holes <= Left(ledger) / 4) return "";
  if (holes == ledger.largest_hole) return ", beside a hole of " + FormatBytes(holes);
  return ", beside " + FormatBytes(holes) + " in holes (largest " +
         FormatBytes(ledger.largest_hole) + ")";
}

// Returns the ledger when most was in use or waiting; the report's own if the trace has no other.
const Ledger& FullestLedger(const CardExplanation& card) {
  return card.fullest ? card.fullest->ledger : card.ledger;
}

}  // namespace

Section PeakSection(const Explanation& explanation) {
  const CardExplanation& card = CardOf(explanation);
  Section section{.id = "peak", .title = "PEAK"};
  if (card.peak.bytes == 0) return section;
  section.subtitle = FormatBytes(card.peak.bytes) + " requested at one instant, " +
                     DescribePosition(card.peak_at) + "; exact, by replay of the trace";
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
  for (const Component& component : kComponents)
    json[std::string(LedgerPartName(component.part))] = ledger.positive(component.part);
  json["largest_hole"] = ledger.largest_hole;
  const auto count = [](const std::optional<uint64_t>& times) {
    return times ? ordered_json(*times) : ordered_json(nullptr);
  };
  json["retries"] = count(card.retries);
  json["waits"] = count(card.waits);
  return json;
}

std::string WaitingSentence(const Explanation& explanation) {
  const CardExplanation& card = CardOf(explanation);
  if (!card.fullest) return "";
  const Ledger& ledger = card.fullest->ledger;
  const uint64_t waiting = ledger.positive(LedgerPart::kStreamWait);
  const bool fills_it = ledger.total_known ? waiting > Left(ledger) && waiting >= ledger.total / 10
                                           : waiting > Allocated(ledger);
  if (!fills_it) return "";
  const std::string of_card = ledger.total_known ? " of card " + std::to_string(card.index) +
                                                       "'s " + FormatBytes(ledger.total)
                                                 : "";
  return Capitalized(DescribePosition(card.fullest->when.at)) + ", " + FormatBytes(waiting) +
         of_card + " were freed, but waited for other streams (record_stream), beside " +
         FormatBytes(Allocated(ledger)) + " in use.";
}

std::string ReservedSentence(const Explanation& explanation) {
  const CardExplanation& card = CardOf(explanation);
  if (!card.most_reserved) return "";
  const Ledger& ledger = card.most_reserved->ledger;
  const uint64_t unused = NotInUse(ledger) - ledger.positive(LedgerPart::kStreamWait);
  constexpr uint64_t kQuarter = 4;
  constexpr uint64_t kTwentieth = 20;
  const bool is_much = unused > Reserved(ledger) / kQuarter &&
                       (!ledger.total_known || unused > ledger.total / kTwentieth);
  if (!is_much) return "";
  return "At most " + FormatBytes(Reserved(ledger)) + " were reserved, " +
         DescribePosition(card.most_reserved->when.at) + ", for " + FormatBytes(Allocated(ledger)) +
         " in use: " + ComponentsText(ledger) + ".";
}

std::string LeftSentence(const Explanation& explanation) {
  const CardExplanation& card = CardOf(explanation);
  if (!card.ledger.total_known) return "";
  const bool is_other = Left(FullestLedger(card)) < Left(card.ledger);
  const Ledger& ledger = is_other ? FullestLedger(card) : card.ledger;
  // The sentence about reserved memory already mentions holes.
  const std::string beside = ReservedSentence(explanation).empty() ? HolesText(ledger) : "";
  return std::string(is_other ? "When the card was fullest, " : "Then ") +
         FormatBytes(Left(ledger)) + " of card " + std::to_string(card.index) + "'s " +
         FormatBytes(ledger.total) + " were still to be had" + beside + ".";
}

}  // namespace memtrace::report
