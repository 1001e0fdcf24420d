// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/fit_document.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "messages/message.h"
#include "tools/report/fit/frontier_section.h"
#include "tools/report/fit/further_sections.h"
#include "tools/report/fit/job_sections.h"
#include "tools/report/fit/moment_sections.h"
#include "tools/report/fit/remedy_sections.h"
#include "tools/report/fit/verdict_sentences.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::CardNeed;
using fit::Outcome;

// The card with the largest need; `has` is 0 for a card that the program needs but does not get.
struct Fullest {
  uint64_t need = 0;
  uint64_t has = 0;
  int32_t card = 0;
};
Fullest FullestOf(const Answer& answer, const Outcome& outcome) {
  Fullest fullest;
  for (const CardNeed& need : fit::Joined(outcome.processes)) {
    const auto card = static_cast<size_t>(need.card);
    const uint64_t has = card < answer.card_bytes.size() ? answer.card_bytes[card] : 0;
    if (need.total >= fullest.need) fullest = {need.total, has, need.card};
  }
  return fullest;
}

// Says that the answer depends on values that were not known; "" if it does not.
std::string UnknownValuesText(const Answer& answer) {
  const std::vector<analysis::HostRead>& reads = answer.unlimited.reads;
  if (reads.empty()) return "";
  const std::string place = Printable(reads.front().place);
  if (reads.size() == 1)
    return Message(
        "This holds if the program goes the same way with the real values that it read at $0 "
        "(below).",
        place);
  return Message(
      "This holds if the program goes the same way with the real values that it read at $0 and "
      "elsewhere (below).",
      place);
}

// The same for steps that do not end the program.
std::string StepsNeedText(const Answer& answer, const Fullest& card) {
  if (answer.job)
    return Message("In them rank $0 needs most: $1 of its card's $2.", card.card,
                   FormatBytes(card.need), FormatBytes(card.has));
  if (card.need <= card.has)
    return Message("In them it needs $0 of card $1's $2.", FormatBytes(card.need), card.card,
                   FormatBytes(card.has));
  return Message(
      "In them the peaks of its processes add up to $0 of card $1's $2, but were not reached at "
      "the same time.",
      FormatBytes(card.need), card.card, FormatBytes(card.has));
}

// Processes may reach their peaks at different times, so the sum may be more than the card.
std::string FitNeedsText(const Answer& answer, const Fullest& card) {
  if (!answer.within.outlook.is_whole) return StepsNeedText(answer, card);
  if (answer.job)
    return Message("Rank $0 needs most: $1 of its card's $2.", card.card, FormatBytes(card.need),
                   FormatBytes(card.has));
  if (card.need <= card.has)
    return Message("It needs $0 of card $1's $2.", FormatBytes(card.need), card.card,
                   FormatBytes(card.has));
  return Message(
      "The peaks of its processes add up to $0 of card $1's $2, but were not reached at the same "
      "time.",
      FormatBytes(card.need), card.card, FormatBytes(card.has));
}

std::string FitsText(const Answer& answer) {
  const Outcome& seen = answer.within;
  const std::string needs = FitNeedsText(answer, FullestOf(answer, answer.told()));
  const std::string rest = JoinedSentences({MarginText(answer), UnknownValuesText(answer)});
  if (seen.outlook.is_whole)
    return JoinedSentences(
        {FitsWords(answer, seen.outlook), needs,
         Message("The program ran to its end on the card ($0).", SeenText(seen.outlook)), rest});
  return JoinedSentences({FitsWords(answer, seen.outlook), needs, SettledText(seen.outlook), rest,
                          UnseenText(seen.outlook)});
}

// Returns the verdict of a whole job with the need of the moment that needs most.
std::string WholeJobVerdictText(const Answer& answer) {
  const std::vector<fit::MomentNeed>& moments = answer.whole_job->moments;
  const auto most =
      std::max_element(moments.begin(), moments.end(),
                       [](const auto& one, const auto& other) { return one.needs < other.needs; });
  const auto card = static_cast<size_t>(most->card);
  const uint64_t has = card < answer.card_bytes.size() ? answer.card_bytes[card] : 0;
  const std::string need = FormatBytes(most->needs);
  return JoinedSentences(
      {WholeJobText(answer),
       answer.job
           ? Message("Rank $0 needs most: $1 of its card's $2.", most->card, need, FormatBytes(has))
           : Message("It needs $0 of card $1's $2.", need, most->card, FormatBytes(has)),
       most->needs > has ? MoreThanCardText(most->needs - has) : "", MarginText(answer),
       UnknownValuesText(answer)});
}

// Says why a need that the card has does not fit it. The need is that of the allocator's peak: what
// another library requested at another moment is not in it.
std::string FailedNeverthelessText(const std::optional<fit::FailedLine>& failed) {
  if (failed && failed->is_fragmentation)
    return Message("That would fit in one piece, but the free memory was in pieces.");
  if (failed && failed->short_by > 0)
    return Message("That would fit, but a request for $0 failed on the card: it was $1 short.",
                   FormatBytes(failed->bytes), FormatBytes(failed->short_by));
  return Message("That would fit, but a request failed on the card nevertheless.");
}

std::string DoesNotFitText(const Answer& answer) {
  const Fullest card = FullestOf(answer, answer.unlimited);
  if (answer.within.HasRunOut() && card.need <= card.has)
    return JoinedSentences(
        {RunsOutText(answer.within),
         NeedText(answer, card.need, card.card, SeenText(answer.unlimited.outlook))});
  return JoinedSentences(
      {Message("DOES NOT FIT."),
       NeedText(answer, card.need, card.card, SeenText(answer.unlimited.outlook)),
       card.need > card.has ? MoreThanCardText(card.need - card.has)
                            : FailedNeverthelessText(answer.within.Failed())});
}

std::string NeedOnlyText(const Answer& answer) {
  const Fullest card = FullestOf(answer, answer.unlimited);
  const fit::Outlook& outlook = answer.unlimited.outlook;
  const std::string bytes = FormatBytes(card.need);
  return JoinedSentences(
      {answer.job ? Message("NEEDS $0 for rank $1, which needs most ($2).", bytes, card.card,
                            SeenText(outlook))
                  : Message("NEEDS $0 of card $1 ($2).", bytes, card.card, SeenText(outlook)),
       UnseenText(outlook)});
}

// Requires the run on the card.
std::string VerdictText(const Answer& answer) {
  const Fullest card = FullestOf(answer, answer.unlimited);
  const std::string needs =
      NeedText(answer, card.need, card.card, SeenText(answer.unlimited.outlook));
  if (IsDecidedByWholeJob(answer)) return WholeJobVerdictText(answer);
  switch (answer.verdict()) {
    case fit::FitVerdict::kFits:
      return FitsText(answer);
    case fit::FitVerdict::kWillNotFit:
      return JoinedSentences({WillNotFitText(answer.within.outlook), needs});
    case fit::FitVerdict::kNotKnown:
      return JoinedSentences(
          {answer.within.fits() ? GapsText(answer) : NotKnownText(answer.within), needs});
    case fit::FitVerdict::kDoesNotFit:
      break;
  }
  return DoesNotFitText(answer);
}

// Names the largest value of --largest, and says why the next one does not fit.
std::string LargestText(const Answer& answer) {
  const fit::Scaling& scaling = answer.scalings.front();
  const std::string name = Printable(scaling.name);
  if (!scaling.largest) return Message("No value of $0 fits.", name);
  const std::string value = name + "=" + std::to_string(*scaling.largest);
  if (!scaling.fails) return Message("$0 fits. Larger values were not tried.", value);
  const std::string next = name + "=" + std::to_string(*scaling.fails);
  if (answer.beyond->is_late)
    return Message("$0 fits. It is not known if $1 does: its run reached the time limit of --time.",
                   value, next);
  const auto failed = answer.beyond->Failed();
  const std::optional<fit::MomentNeed> limited_by =
      answer.whole_job ? answer.whole_job->limited_by : std::nullopt;
  return JoinedSentences({Message("$0 is the largest value that fits.", value),
                          failed ? Message("$0 does not fit ($1).", next, FailedText(*failed))
                          : answer.beyond->exit_code != 0 ? Message("$0 fails by itself.", next)
                                                          : Message("$0 does not fit.", next),
                          limited_by ? LimitText(*limited_by) : ""});
}

Section VerdictOf(const Answer& answer) {
  Section section{.id = "verdict"};
  const bool is_told = answer.cards.empty() ? answer.has_need() : answer.has_within;
  if (!is_told) {
    section.parts = {Paragraph{KnownSoFarText(answer)}};
    return section;
  }
  section.parts = {Paragraph{answer.cards.empty() ? NeedOnlyText(answer) : VerdictText(answer)}};
  if (answer.beyond) section.parts.insert(section.parts.begin(), Paragraph{LargestText(answer)});
  for (std::string& more : FurtherSentences(answer))
    section.parts.emplace_back(Paragraph{std::move(more)});
  if (answer.stopped) section.parts.emplace_back(Paragraph{StoppedText(*answer.stopped)});
  return section;
}

// Lists the moments that were not seen, unless the verdict has named the only one.
Section GapSection(const Answer& answer) {
  Section section{.id = "not_seen", .title = Message("NOT SEEN")};
  if (answer.gaps.size() < 2) return section;
  Facts facts;
  for (const fit::Gap& gap : answer.gaps)
    facts.rows.push_back(
        {.label = fit::MomentWords(gap.moment),
         .text = JoinedSentences({Printable(gap.evidence), Printable(gap.why_not)})});
  section.parts.emplace_back(std::move(facts));
  return section;
}

// Says where the figures of the need come from.
std::string BasisText(const Answer& answer, const CardNeed& need) {
  const std::string reserved = FormatBytes(need.peak_reserved);
  const Outcome* told = &answer.told();
  const bool is_unlimited =
      told == &answer.unlimited || (answer.whole_job && told == &answer.whole_job->unlimited);
  const auto card = static_cast<size_t>(need.card);
  return JoinedSentences(
      {Message("The peak allocated is $0, $1.", FormatBytes(need.peak_allocated),
               DescribePosition(need.peak_at)),
       is_unlimited ? Message("It was seen in a run without a limit; torch reserved $0.", reserved)
                    : Message("It was seen in the run on the card; torch reserved $0.", reserved),
       need.fragmentation > 0 ? Message("$0 of that is fragmentation: cached and in holes.",
                                        FormatBytes(need.fragmentation))
                              : "",
       card < answer.card_bytes.size()
           ? Message("The card has $0.", FormatBytes(answer.card_bytes[card]))
           : ""});
}

// Says how it is known which blocks are logits; "" if there are none.
std::string LogitsText(const CardNeed& need) {
  const bool has_logits =
      std::any_of(need.parts.begin(), need.parts.end(),
                  [](const fit::NeedPart& part) { return part.name == fit::kLogits; });
  return has_logits ? Message(
                          "Logits are what the model's head and the loss requested, and blocks "
                          "of the same size: which these are is inferred.")
                    : "";
}

Section NeedSection(const Answer& answer, const CardNeed& need) {
  Section section{.id = "need",
                  .title = answer.job ? Message("RANK $0, WHICH NEEDS MOST", need.card)
                                      : Message("CARD $0", need.card)};
  const TableUnit unit = UnitFor(need.total);
  Table table;
  table.columns = {{"", 24}, {std::string(unit.name), 9, TableColumn::Kind::kFigure}};
  std::vector<int64_t> bytes;
  bytes.reserve(need.parts.size());
  for (const fit::NeedPart& part : need.parts) bytes.push_back(static_cast<int64_t>(part.bytes));
  const std::vector<int64_t> figures =
      AdditiveHundredths(bytes, Hundredths(static_cast<int64_t>(need.total), unit), unit);
  for (size_t i = 0; i < need.parts.size(); ++i) {
    TableRow row{.cells = {MessageOf(need.parts[i].name), FormatHundredths(figures[i])}};
    if (need.total > 0)
      row.share = static_cast<double>(need.parts[i].bytes) / static_cast<double>(need.total);
    table.rows.push_back(std::move(row));
  }
  table.total = {Message("needs"), FormatFigure(need.total, unit)};
  section.parts.emplace_back(std::move(table));
  section.parts.emplace_back(Note{JoinedSentences({BasisText(answer, need), LogitsText(need)})});
  return section;
}

// Lists the values that were not known. Those that followed from a made-up answer are called
// assumed.
Section UnknownSection(const Answer& answer) {
  Section section{.id = "unknown", .title = Message("VALUES THAT WERE NOT KNOWN")};
  for (const analysis::HostRead& read : answer.unlimited.reads) {
    section.parts.emplace_back(Paragraph{JoinedSentences(
        {CountedMessage(read.count, "$0 read 1 value ($2).", "$0 read $1 values ($2).",
                        Printable(read.place), FormatCount(read.count), Printable(read.operation)),
         read.assumed ? Message("It was assumed.") : "",
         read.answer.empty() ? "" : Message("The answer was $0.", Printable(read.answer))})});
  }
  if (section.parts.empty()) return section;
  section.parts.emplace_back(
      Note{Message("Nothing is computed on a simulated card. If these values decide what the "
                   "program allocates, it may need something else. --stub can put true values in "
                   "their place.")});
  return section;
}

// Returns the tables of the cards; for a job, that of the rank that needs most.
Document NeedSections(const Answer& answer) {
  Document sections;
  const int32_t fullest = FullestOf(answer, answer.told()).card;
  for (const CardNeed& need : fit::Joined(answer.told().processes))
    if (!answer.job || need.card == fullest) sections.push_back(NeedSection(answer, need));
  return sections;
}

}  // namespace

Document FitDocument(const Answer& answer) {
  Document document = {VerdictOf(answer), RecommendedSection(answer)};
  document.push_back(MomentSection(answer));
  for (Section& need : NeedSections(answer)) document.push_back(std::move(need));
  document.push_back(GapSection(answer));
  document.push_back(RankSection(answer));
  document.push_back(ProcessSection(answer));
  document.push_back(FrontierSection(answer));
  document.push_back(RemedySection(answer));
  document.push_back(UntriedSection(answer));
  for (const fit::Scaling& scaling : answer.scalings)
    document.push_back(ScalingSection(answer, scaling));
  document.push_back(SmallestCardSection(answer));
  document.push_back(UnknownSection(answer));
  document.push_back(LimitsSection(answer));
  return document;
}

}  // namespace memtrace::report
