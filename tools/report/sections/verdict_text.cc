// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/verdict_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "messages/message.h"
#include "tools/report/sections/activity_table.h"
#include "tools/report/sections/cards_table.h"
#include "tools/report/sections/growth_table.h"
#include "tools/report/sections/peak_section.h"
#include "tools/report/verdict/checkpointing_text.h"
#include "tools/report/verdict/end_text.h"
#include "tools/report/verdict/need_text.h"
#include "tools/report/verdict/passes_text.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/verdict/reason_text.h"
#include "tools/report/verdict/unneeded_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::Ledger;

// The sentences of the first screen.
constexpr size_t kFirst = 3;

std::string ContributionSentence(const analysis::Contribution& contribution) {
  const std::string bytes = FormatBytes(contribution.bytes);
  using Kind = analysis::ContributionKind;
  switch (contribution.kind) {
    case Kind::kTransient:
      return "";  // NeedSentences() say it
    case Kind::kGrowth:
      return Message("Memory in use grew from step to step, by $0 up to the start of this one.",
                     bytes);
    case Kind::kPrivatePool:
      return Message("$0 is held in private pools (captured graphs, memory pools).", bytes);
    case Kind::kOutsideAllocator:
      return Message("This process allocated $0 outside torch's allocator.", bytes);
  }
  return "";
}

std::string PeakSentences(const Explanation& explanation) {
  const analysis::CardExplanation& card = explanation.card_of_verdict();
  if (card.peak.bytes == 0) return EndWithoutMemorySentence(explanation);
  return JoinedSentences({EndSentence(explanation), WaitingSentence(card),
                          Message("The peak of requested memory, $0, was $1.",
                                  FormatBytes(card.peak.bytes), DescribePosition(card.peak_at)),
                          LeftSentence(card), ReservedSentence(card)});
}

std::string RequestedMomentSentence(const Explanation& explanation) {
  const analysis::CardExplanation& card = explanation.card_of_verdict();
  const std::string peak =
      card.peak.bytes > 0 ? Message("Its peak was $0.", FormatBytes(card.peak.bytes)) : "";
  return JoinedSentences(
      {Message("At $0 ($1, event $2, $3) card $4 held $5 of requested memory.",
               MomentText(*explanation.asked), DescribePosition(card.when.at),
               FormatCount(card.when.ordinal), FormatSeconds(card.when.time_ns),
               std::to_string(card.index), FormatBytes(explanation.holders.held.bytes)),
       peak});
}

// Names models that the program deleted but something still holds; empty if there are none.
std::string DeletedModelsSentence(const Explanation& explanation) {
  if (!explanation.kept.deleted_models) return "";
  const analysis::Keeper& keeper = explanation.kept.deleted_models->keeper;
  return Message(
      "$0 of parameters belong to models that the program deleted: the graphs of the tensors in "
      "the $1 '$2' ($3) still hold them.",
      FormatBytes(explanation.kept.deleted_models->bytes), Printable(keeper.container),
      Printable(keeper.name), Printable(keeper.place));
}

// Mentions cards that are mostly unused beside the full one, which explains most of these failures.
std::vector<std::string> EmptyCardSentences(const Explanation& explanation) {
  std::vector<std::string> sentences;
  for (const analysis::CardExplanation& card : explanation.cards) {
    const Ledger& ledger = card.ledger;
    if (card.index == explanation.card_of_verdict().index || !ledger.total_known) continue;
    if (analysis::Unused(ledger) <= ledger.total / 2) continue;
    sentences.push_back(Message("Card $0 had $1 of $2 unused.", std::to_string(card.index),
                                FormatBytes(analysis::Unused(ledger)), FormatBytes(ledger.total)));
  }
  return sentences;
}

void Add(std::vector<std::string> from, std::vector<std::string>& sentences) {
  for (std::string& text : from) {
    if (!text.empty()) sentences.push_back(std::move(text));
  }
}

// Says what the program did that filled the card, in the order of what a person can change.
std::vector<std::string> CourseSentences(const Explanation& explanation) {
  return {UnevenSentence(explanation),
          LargestCallSentence(explanation.failure),
          ScratchSentence(explanation),
          ResultsSentence(explanation),
          GrowthSentence(explanation),
          KeeperSentence(explanation),
          SummedPassesSentence(explanation.kept),
          EvalModeSentence(explanation.kept, explanation.holders),
          UntrainedSentence(explanation.kept, explanation.holders),
          UnreadSentence(explanation),
          CollectionsSentence(explanation)};
}

std::vector<std::string> OtherSentencesOfFailure(const Explanation& explanation) {
  std::vector<std::string> sentences;
  Add(CourseSentences(explanation), sentences);
  Add(NeedSentences(explanation.card_of_verdict(), explanation.failure, explanation.cures),
      sentences);
  Add({DeletedModelsSentence(explanation)}, sentences);
  for (const analysis::Contribution& contribution : explanation.failure.verdict.contributing)
    Add({ContributionSentence(contribution)}, sentences);
  Add(EmptyCardSentences(explanation), sentences);
  Add(CheckpointingSentences(explanation.run.annotations), sentences);
  Add({IdleSentence(explanation.holders)}, sentences);
  return sentences;
}

std::vector<std::string> OtherSentencesOfPeak(const Explanation& explanation) {
  std::vector<std::string> sentences;
  Add({NextStepSentence(explanation.card_of_verdict(), explanation.cures),
       EarlierValueSentence(explanation)},
      sentences);
  Add(CourseSentences(explanation), sentences);
  Add(CheckpointingSentences(explanation.run.annotations), sentences);
  Add({IdleSentence(explanation.holders)}, sentences);
  return sentences;
}

}  // namespace

VerdictText VerdictTextOf(const Explanation& explanation) {
  VerdictText text;
  if (explanation.failure.request) {
    const analysis::CardExplanation& card = explanation.card_of_verdict();
    text.first = {FailureSentence(card, explanation.failure)};
    Add({UnneededSentences(explanation), ReasonSentence(card, explanation.failure)}, text.first);
    text.others = OtherSentencesOfFailure(explanation);
  } else {
    text.first = {explanation.asked ? RequestedMomentSentence(explanation)
                                    : PeakSentences(explanation)};
    text.others = OtherSentencesOfPeak(explanation);
  }
  const size_t missing = kFirst - std::min(kFirst, text.first.size());
  const auto end =
      text.others.begin() + static_cast<std::ptrdiff_t>(std::min(missing, text.others.size()));
  text.first.insert(text.first.end(), text.others.begin(), end);
  text.others.erase(text.others.begin(), end);
  return text;
}

std::vector<std::string> VerdictSentences(const Explanation& explanation) {
  VerdictText text = VerdictTextOf(explanation);
  text.first.insert(text.first.end(), text.others.begin(), text.others.end());
  return text.first;
}

}  // namespace memtrace::report
