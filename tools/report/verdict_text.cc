// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/report/activity_table.h"
#include "tools/report/growth_table.h"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Cause;
using analysis::Explanation;
using analysis::Ledger;

std::string Held(const Ledger& ledger, std::string_view name) {
  return FormatBytes(ledger.positive(name));
}

// What was foreseen of the step that failed, at the update before it.
const analysis::NextStep* Foreseen(const Explanation& explanation) {
  const auto& next = explanation.next_step;
  const bool is_this = next && next->number == explanation.request->at.step;
  return is_this && !explanation.verdict.step_short_by ? &*next : nullptr;
}

// Whether the rest of the step would have gone into what is unused, were it in one piece; nothing
// if that is not known.
std::optional<bool> JoinedServeStep(const Explanation& explanation, const Ledger& ledger,
                                    uint64_t unused) {
  if (const auto& short_by = explanation.verdict.step_short_by)
    return *short_by + explanation.request->obtainable <= unused;
  if (const analysis::NextStep* next = Foreseen(explanation)) return next->need <= ledger.total;
  return std::nullopt;
}

// "Not full" is said only where the step would have gone on: most programs that need far more than
// the card has meet their end with some memory in holes.
std::string FragmentationReason(const Explanation& explanation, const Ledger& ledger) {
  const auto unused = static_cast<uint64_t>(
      std::max<int64_t>(ledger.bytes("free") + ledger.bytes("cached") + ledger.bytes("holes"), 0));
  const std::string pieces =
      FormatBytes(unused) + " are unused, but in pieces that cannot be joined.";
  const std::optional<bool> serve_step = JoinedServeStep(explanation, ledger, unused);
  if (!serve_step) {
    return "The card is fragmented: " + pieces +
           " Joined, they would have served this request; what would have been asked after it is "
           "not known.";
  }
  if (*serve_step) return "The card is fragmented, not full: " + pieces;
  return "The card is all but full, and fragmented: " + pieces +
         " Joined, they would have served this request, not the rest of the step.";
}

std::string Reason(const Explanation& explanation, const Ledger& ledger) {
  const analysis::Request& request = *explanation.request;
  switch (explanation.verdict.cause) {
    case Cause::kNone:
      return "";
    case Cause::kLimit:
      return "The limit set for this process, " + FormatBytes(request.limit) +
             ", was reached; the card itself is not full.";
    case Cause::kStreamWait:
      return "Enough was freed, but " + Held(ledger, "stream_wait") +
             " of it still waits for another stream.";
    case Cause::kFragmentation:
      return FragmentationReason(explanation, ledger);
    case Cause::kOtherProcess:
      return "Other processes hold " + Held(ledger, "other_processes") +
             " of the card; with that the request would have fitted.";
    case Cause::kCapacity:
      return "The card is full; it is not fragmented.";
  }
  return "";
}

std::string Shortage(const Explanation& explanation) {
  const analysis::Request& request = *explanation.request;
  return FormatBytes(request.bytes) + " were asked and " + FormatBytes(request.obtainable) +
         " could be had: short by " + FormatBytes(explanation.verdict.short_by) + ".";
}

std::string ForeachSentence(const analysis::ForeachCopy& copy) {
  const std::string whose = copy.optimizer.empty() ? "the optimizer" : Printable(copy.optimizer);
  std::string text = copy.states_complete ? "All optimizer states exist; " + whose : whose;
  if (!copy.states_complete && copy.optimizer.empty()) text.front() = 'T';
  return text + "'s foreach update was making one temporary copy of them, " +
         FormatBytes(copy.copy_bytes) + " for a moment. " +
         (copy.made_bytes == 0 ? "None of it was made yet"
                               : FormatBytes(copy.made_bytes) + " of it were made") +
         ": the step would still have needed " + FormatBytes(copy.still_needed) + ".";
}

std::string ForeseenSentence(const Explanation& explanation) {
  const analysis::NextStep* next = Foreseen(explanation);
  if (next == nullptr) return "";
  return "Going by the step before, which made " + FormatBytes(next->new_states) +
         " of optimizer states only at its end, this one needs about " + FormatBytes(next->need) +
         " of the card (estimated).";
}

void AddNeedOfStep(const Explanation& explanation, std::vector<std::string>& sentences) {
  if (std::string text = ForeseenSentence(explanation); !text.empty()) {
    sentences.push_back(std::move(text));
  }
  if (explanation.foreach_copy) sentences.push_back(ForeachSentence(*explanation.foreach_copy));
  if (explanation.verdict.step_need != analysis::NeedSource::kPreviousStep) return;
  sentences.push_back("Going by the previous step, the rest of this one would still have needed " +
                      FormatBytes(*explanation.verdict.step_short_by) + ".");
}

std::string ContributionSentence(const analysis::Contribution& contribution) {
  const std::string bytes = FormatBytes(contribution.bytes);
  if (contribution.name == "growth") {
    return "Live memory grew from step to step, by " + bytes + " up to the start of this one.";
  }
  if (contribution.name == "private_pool") {
    return bytes + " are held in private pools (captured graphs, memory pools).";
  }
  if (contribution.name == "outside_allocator") {
    return bytes + " were allocated by this process behind the allocator.";
  }
  return "";
}

std::string PeakSentence(const Explanation& explanation) {
  const analysis::CardExplanation& card = explanation.cards[explanation.card];
  if (card.peak.bytes == 0) return "No out-of-memory; nothing was allocated on a card.";
  std::string text = "No out-of-memory. The peak, " + FormatBytes(card.peak.bytes) +
                     " requested, was " + DescribePosition(card.peak_at) + ".";
  if (!card.ledger.total_known) return text;
  const auto left = static_cast<uint64_t>(
      std::max<int64_t>(card.ledger.bytes("free") + card.ledger.bytes("cached"), 0));
  return text + " Then " + FormatBytes(left) + " of card " + std::to_string(card.index) + "'s " +
         FormatBytes(card.ledger.total) + " were still to be had.";
}

std::string AskedSentence(const Explanation& explanation) {
  const analysis::CardExplanation& card = explanation.cards[explanation.card];
  std::string text =
      "At " + MomentText(*explanation.asked) + " (" + DescribePosition(card.when.at) + ", event " +
      FormatCount(card.when.ordinal) + ", " + FormatSeconds(card.when.time_ns) + ") card " +
      std::to_string(card.index) + " held " + FormatBytes(explanation.held.bytes) + " requested";
  if (card.peak.bytes > 0) text += "; its peak was " + FormatBytes(card.peak.bytes);
  return text + ".";
}

// Only what decides something: that the next step does not fit, although this one did.
std::string NextStepSentence(const Explanation& explanation) {
  const auto& next = explanation.next_step;
  const Ledger& ledger = explanation.cards[explanation.card].ledger;
  if (!next || !ledger.total_known || next->need <= ledger.total) return "";
  return "The next step would need " + FormatBytes(next->need) + " of this " +
         FormatBytes(ledger.total) + " card (estimated): the " + FormatBytes(next->new_states) +
         " of optimizer states that this one made stay.";
}

void AddCourse(const Explanation& explanation, std::vector<std::string>& sentences) {
  for (std::string text : {ScratchSentence(explanation), GrowthSentence(explanation)}) {
    if (!text.empty()) sentences.push_back(std::move(text));
  }
}

void AddIdle(const Explanation& explanation, std::vector<std::string>& sentences) {
  if (std::string idle = IdleSentence(explanation); !idle.empty())
    sentences.push_back(std::move(idle));
}

}  // namespace

std::string PhaseWords(trace::Phase phase) {
  if (phase == trace::Phase::kOther) return "";
  if (phase == trace::Phase::kOptimizer) return "optimizer.step()";
  return std::string(PhaseName(phase));
}

std::string DescribePosition(const analysis::Position& position) {
  std::string step =
      position.step == 0 ? "before the first step" : "in step " + std::to_string(position.step);
  if (position.micro_batch > 1) step += ", micro-batch " + std::to_string(position.micro_batch);
  const std::string phase = PhaseWords(position.phase);
  return phase.empty() ? step : step + ", " + phase;
}

std::string MomentName(const Explanation& explanation) {
  if (explanation.asked) return MomentText(*explanation.asked);
  return explanation.request ? "oom" : "peak";
}

std::vector<std::string> VerdictSentences(const Explanation& explanation) {
  if (!explanation.request) {
    std::vector<std::string> sentences = {explanation.asked ? AskedSentence(explanation)
                                                            : PeakSentence(explanation)};
    AddCourse(explanation, sentences);
    if (std::string next = NextStepSentence(explanation); !next.empty()) {
      sentences.push_back(std::move(next));
    }
    AddIdle(explanation, sentences);
    return sentences;
  }
  const Ledger& ledger = explanation.cards[explanation.card].ledger;
  std::vector<std::string> sentences = {"OUT OF MEMORY " +
                                            DescribePosition(explanation.request->at) + ". " +
                                            Reason(explanation, ledger),
                                        Shortage(explanation)};
  AddNeedOfStep(explanation, sentences);
  for (const analysis::Contribution& contribution : explanation.verdict.contributing) {
    const std::string text = ContributionSentence(contribution);
    if (!text.empty()) sentences.push_back(text);
  }
  AddCourse(explanation, sentences);
  AddIdle(explanation, sentences);
  return sentences;
}

}  // namespace memtrace::report
