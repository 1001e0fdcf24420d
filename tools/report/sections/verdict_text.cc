// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/verdict_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/frames.h"
#include "tools/remedies/catalogue.h"
#include "tools/report/sections/activity_table.h"
#include "tools/report/sections/cards_table.h"
#include "tools/report/sections/checkpointing_text.h"
#include "tools/report/sections/end_text.h"
#include "tools/report/sections/growth_table.h"
#include "tools/report/sections/others_text.h"
#include "tools/report/sections/passes_text.h"
#include "tools/report/sections/peak_section.h"
#include "tools/report/sections/unneeded_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Cause;
using analysis::Explanation;
using analysis::Ledger;
using analysis::LedgerPart;

std::string Held(const Ledger& ledger, LedgerPart part) {
  return FormatBytes(ledger.positive(part));
}

// Returns the estimate, made at the update before it, of the step that failed.
const analysis::NextStep* Foreseen(const Explanation& explanation) {
  const auto& next = explanation.cures.next_step;
  const bool is_this = next && next->number == explanation.failure.request->at.step;
  const analysis::Verdict& verdict = explanation.failure.verdict;
  const bool is_known = verdict.step_short_by && !verdict.rest.at_least;
  return is_this && !is_known ? &*next : nullptr;
}

std::string UnusedText(const Ledger& ledger) { return FormatBytes(analysis::Unused(ledger)); }

// Returns "23.20 GiB of 24.00 GiB are live", without context and other processes.
std::string LiveText(const Ledger& ledger) {
  return Held(ledger, LedgerPart::kLive) + " of " + FormatBytes(ledger.total) + " are live";
}

// Used only if the rest of the step would have fitted into unused memory or, if that is not known,
// if much of the card is unused.
std::string FragmentationReason(const Explanation& explanation, const Ledger& ledger) {
  const std::string pieces =
      UnusedText(ledger) + " are unused, but in pieces that cannot be joined.";
  const analysis::RestOfStep& rest = explanation.failure.verdict.rest;
  if (rest.rise && !rest.at_least) return "The card is fragmented, not full: " + pieces;
  return "The card is fragmented: " + pieces +
         " Joined, they would have served this request; what would have been requested after it "
         "is not known.";
}

// A snapshot of torch has the driver's free bytes, but not the card's size.
std::string ReasonWithoutSize(const Explanation& explanation, const Ledger& ledger) {
  const std::string held = Held(ledger, LedgerPart::kLive) + " are live and the driver had " +
                           Held(ledger, LedgerPart::kFree) + " left";
  if (analysis::Unused(ledger) >= explanation.failure.request->bytes) return held + ".";
  return held + ": all unused memory in one piece would not serve the request.";
}

// Unused memory in pieces that would serve the request, but not the rest of the step, is not the
// cause. It is mentioned so that nobody looks for it.
std::string CapacityReason(const Explanation& explanation, const Ledger& ledger) {
  if (!ledger.total_known) return ReasonWithoutSize(explanation, ledger);
  // Otherwise something beside blocks in use fills it, such as pools or contexts, which the ledger
  // and the contributing causes name.
  const bool live_fills_it = ledger.positive(LedgerPart::kLive) > ledger.total / 2;
  std::string full =
      live_fills_it ? "The card is full: " + LiveText(ledger) + "." : "The card is full.";
  if (analysis::Unused(ledger) < explanation.failure.request->bytes)
    return full + " It is not fragmented.";
  const auto& rise = explanation.failure.verdict.rest.rise;
  if (!rise || *rise <= analysis::Unused(ledger)) return full;
  return full + " The " + UnusedText(ledger) +
         " that lie in pieces would have served this request, not the rest of the step.";
}

std::string TooLargeReason(const Explanation& explanation, const Ledger& ledger) {
  const analysis::ExplainedRequest& request = *explanation.failure.request;
  const std::string one = "One request for " + FormatBytes(request.bytes) + LineInBrackets(request);
  if (explanation.failure.verdict.is_larger_than_card) {
    return one + " is larger than the card: it has " + FormatBytes(ledger.total) + ", of which " +
           UnusedText(ledger) + " are unused.";
  }
  return one + " is larger than what is left, although most of the card is unused: " +
         UnusedText(ledger) + " of " + FormatBytes(ledger.total) + ".";
}

// Allocators give whole cached segments back before they fail, with these exceptions.
std::string CachedReason(const Explanation& explanation) {
  return FormatBytes(explanation.failure.verdict.releasable) +
         " are cached and unused, and would have served the request if they had been "
         "given back. " +
         (analysis::IsOfAnotherLibrary(explanation.failure.request->stack)
              ? "Another library asked the driver itself, for which no allocator of torch releases "
                "its cache."
              : "torch does not release its cache for a request inside a memory pool "
                "(torch.cuda.use_mem_pool) or a graph capture.") +
         " What does: " + std::string(remedies::RowOf(remedies::Id::kEmptyCache).change) + ".";
}

std::string OtherProcessReason(const Explanation& explanation, const Ledger& ledger) {
  const analysis::RestOfStep& rest = explanation.failure.verdict.rest;
  const bool is_known = rest.rise && !rest.at_least;
  const std::string who = OthersClause(explanation.card_of_verdict());
  return (who.empty()
              ? "Other processes hold " + Held(ledger, LedgerPart::kOtherProcesses) + " of the card"
              : who) +
         "; without them the " +
         (is_known ? "step would have gone on." : "request would have fitted.");
}

std::string Reason(const Explanation& explanation, const Ledger& ledger) {
  const analysis::ExplainedRequest& request = *explanation.failure.request;
  switch (explanation.failure.verdict.cause) {
    case Cause::kNone:
      return "";
    case Cause::kLimit:
      return "The limit set for this process, " + FormatBytes(request.limit) +
             ", was reached; the card itself is not full.";
    case Cause::kTooLarge:
      return TooLargeReason(explanation, ledger);
    case Cause::kCached:
      return CachedReason(explanation);
    case Cause::kStreamWait:
      return "Enough was freed, but " + Held(ledger, LedgerPart::kStreamWait) +
             " of it still waits for another stream.";
    case Cause::kFragmentation:
      return FragmentationReason(explanation, ledger);
    case Cause::kOtherProcess:
      return OtherProcessReason(explanation, ledger);
    case Cause::kCapacity:
      return CapacityReason(explanation, ledger);
  }
  return "";
}

std::string Shortage(const Explanation& explanation) {
  const analysis::ExplainedRequest& request = *explanation.failure.request;
  const uint64_t free = explanation.card_of_verdict().ledger.positive(LedgerPart::kFree);
  if (explanation.failure.verdict.short_by == 0 && free >= request.bytes)
    return FormatBytes(request.bytes) + " were asked while " + FormatBytes(free) +
           " of the card were free: torch takes memory from the driver in pieces of up to 20 MiB, "
           "and the last of them did not fit.";
  return FormatBytes(request.bytes) + " were asked and " + FormatBytes(request.obtainable) +
         " could be had: short by " + FormatBytes(explanation.failure.verdict.short_by) + ".";
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

std::string LeftGradientsText(const analysis::NextStep& next) {
  if (next.left_gradients == 0) return "";
  return ": the " + FormatBytes(next.left_gradients) +
         " of gradients that the step before left may come on top";
}

std::string ForeseenSentence(const Explanation& explanation) {
  const analysis::NextStep* next = Foreseen(explanation);
  if (next == nullptr) return "";
  return "Going by the step before, which made " + FormatBytes(next->new_states) +
         " of optimizer states only at its end, this one needs " +
         (next->left_gradients > 0 ? "at least " : "about ") + FormatBytes(next->need) +
         " of the card (estimated)" + LeftGradientsText(*next) + ".";
}

std::string CopyText(const analysis::OptimizerNeed& need) {
  if (need.copy == 0) return "";
  return ", and for a moment a copy of " + FormatBytes(need.copy) + " (foreach)";
}

std::string StatesSentence(const analysis::OptimizerNeed& need) {
  if (need.states == 0) return "";
  const std::string states = FormatBytes(need.states);
  if (need.states_made == 0)
    return "optimizer.step() will make " + states + " of optimizer states" + CopyText(need) + ".";
  return FormatBytes(need.states_made) + " of " + FormatBytes(need.states + need.states_made) +
         " of optimizer states exist; optimizer.step() will make the other " + states +
         CopyText(need) + ".";
}

// Says what training allocates and had not allocated yet.
std::string OptimizerSentence(const Explanation& explanation) {
  const analysis::OptimizerNeed& need = explanation.failure.verdict.rest.optimizer;
  std::string text = StatesSentence(need);
  if (need.gradients == 0) return text;
  return text + (text.empty() ? "" : " ") + FormatBytes(need.gradients) +
         " of gradients of trained parameters do not exist yet.";
}

// Says which part of the KV cache a pass over the prompt had not made yet.
std::string CacheSentence(const Explanation& explanation) {
  const auto& cache = explanation.failure.verdict.rest.cache;
  if (!cache) return "";
  return FormatBytes(cache->made) + " of KV cache exist, of " + FormatCount(cache->layers_made) +
         " of " + FormatCount(cache->layers) + " layers; the others would make about " +
         FormatBytes(cache->to_come) + " more.";
}

// Says what the layers not yet reached by a forward pass would have kept.
std::string LayersSentence(const Explanation& explanation) {
  const auto& layers = explanation.failure.verdict.rest.layers;
  if (!layers) return "";
  return "Layer " + FormatCount(layers->current + 1) + " of " + FormatCount(layers->layers) + " (" +
         Printable(layers->name) +
         ") was running: the rest of the forward pass would have kept about " +
         FormatBytes(layers->to_come) + " more.";
}

// Estimates the rest of this step from the previous step or micro-batch.
std::string PreviousSentence(const Explanation& explanation) {
  const analysis::Verdict& verdict = explanation.failure.verdict;
  const bool is_step = verdict.rest.source == analysis::NeedSource::kPreviousStep;
  if (!is_step && verdict.rest.source != analysis::NeedSource::kPreviousMicroBatch) return "";
  const std::string rest = "Going by the previous " +
                           std::string(is_step ? "step" : "micro-batch") +
                           ", the rest of this one would ";
  const uint64_t unused = analysis::Unused(explanation.card_of_verdict().ledger);
  return *verdict.rest.rise <= unused
             ? rest + "have needed " + FormatBytes(*verdict.rest.rise) + ", less than is unused."
             : rest + "still have needed " + FormatBytes(*verdict.step_short_by) +
                   " more than is unused.";
}

void AddNeedOfStep(const Explanation& explanation, std::vector<std::string>& sentences) {
  for (std::string text : {OptimizerSentence(explanation), ForeseenSentence(explanation),
                           CacheSentence(explanation), LayersSentence(explanation)}) {
    if (!text.empty()) sentences.push_back(std::move(text));
  }
  if (explanation.failure.foreach_copy)
    sentences.push_back(ForeachSentence(*explanation.failure.foreach_copy));
  if (std::string text = PreviousSentence(explanation); !text.empty())
    sentences.push_back(std::move(text));
}

std::string ContributionSentence(const analysis::Contribution& contribution) {
  const std::string bytes = FormatBytes(contribution.bytes);
  using Kind = analysis::ContributionKind;
  switch (contribution.kind) {
    case Kind::kTransient:
      return "";  // ForeachSentence says it
    case Kind::kGrowth:
      return "Live memory grew from step to step, by " + bytes + " up to the start of this one.";
    case Kind::kPrivatePool:
      return bytes + " are held in private pools (captured graphs, memory pools).";
    case Kind::kOutsideAllocator:
      return bytes + " were allocated by this process behind the allocator.";
  }
  return "";
}

std::string PeakSentence(const Explanation& explanation) {
  const analysis::CardExplanation& card = explanation.card_of_verdict();
  if (card.peak.bytes == 0) return EndWithoutMemorySentence(explanation);
  std::string text = EndSentence(explanation);
  const std::string peak = "The peak, " + FormatBytes(card.peak.bytes) + " requested, was " +
                           DescribePosition(card.peak_at) + ".";
  for (const std::string& sentence : {WaitingSentence(explanation), peak, LeftSentence(explanation),
                                      ReservedSentence(explanation)}) {
    if (!sentence.empty()) text += " " + sentence;
  }
  return text;
}

std::string RequestedMomentSentence(const Explanation& explanation) {
  const analysis::CardExplanation& card = explanation.card_of_verdict();
  std::string text = "At " + MomentText(*explanation.asked) + " (" +
                     DescribePosition(card.when.at) + ", event " + FormatCount(card.when.ordinal) +
                     ", " + FormatSeconds(card.when.time_ns) + ") card " +
                     std::to_string(card.index) + " held " +
                     FormatBytes(explanation.holders.held.bytes) + " requested";
  if (card.peak.bytes > 0) text += "; its peak was " + FormatBytes(card.peak.bytes);
  return text + ".";
}

// Says that the next step does not fit although this one did; otherwise empty.
std::string NextStepSentence(const Explanation& explanation) {
  const auto& next = explanation.cures.next_step;
  const Ledger& ledger = explanation.card_of_verdict().ledger;
  if (!next || !ledger.total_known || next->need <= ledger.total) return "";
  return "The next step would need " + FormatBytes(next->need) + " of this " +
         FormatBytes(ledger.total) + " card (estimated): the " + FormatBytes(next->new_states) +
         " of optimizer states that this one made stay.";
}

// Names models that the program deleted but something still holds; empty if there are none.
std::string DeletedModelsSentence(const Explanation& explanation) {
  if (!explanation.kept.deleted_models) return "";
  const analysis::Keeper& keeper = explanation.kept.deleted_models->keeper;
  return FormatBytes(explanation.kept.deleted_models->bytes) +
         " are parameters of models that the program deleted: the graphs of the tensors in the " +
         Printable(keeper.container) + " '" + Printable(keeper.name) + "' (" +
         Printable(keeper.place) + ") hold them.";
}

void AddCourse(const Explanation& explanation, std::vector<std::string>& sentences) {
  for (std::string text :
       {UnevenSentence(explanation), LargestCallSentence(explanation), ScratchSentence(explanation),
        GrowthSentence(explanation), KeeperSentence(explanation), SummedPassesSentence(explanation),
        EvalModeSentence(explanation), UntrainedSentence(explanation), UnreadSentence(explanation),
        CollectionsSentence(explanation)}) {
    if (!text.empty()) sentences.push_back(std::move(text));
  }
  for (std::string& text : CheckpointingSentences(explanation.run.annotations))
    sentences.push_back(std::move(text));
}

// Mentions cards that are mostly unused beside the full one, which explains most of these failures.
void AddEmptyCards(const Explanation& explanation, std::vector<std::string>& sentences) {
  for (const analysis::CardExplanation& card : explanation.cards) {
    const Ledger& ledger = card.ledger;
    if (card.index == explanation.card_of_verdict().index || !ledger.total_known) continue;
    if (analysis::Unused(ledger) <= ledger.total / 2) continue;
    sentences.push_back("Of card " + std::to_string(card.index) + "'s " +
                        FormatBytes(ledger.total) + " then " + UnusedText(ledger) +
                        " were unused.");
  }
}

void AddIdle(const Explanation& explanation, std::vector<std::string>& sentences) {
  if (std::string idle = IdleSentence(explanation.holders); !idle.empty())
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
  return explanation.failure.request ? "oom" : "peak";
}

std::vector<std::string> VerdictSentences(const Explanation& explanation) {
  if (!explanation.failure.request) {
    std::vector<std::string> sentences = {explanation.asked ? RequestedMomentSentence(explanation)
                                                            : PeakSentence(explanation)};
    if (std::string earlier = EarlierValueSentence(explanation); !earlier.empty())
      sentences.push_back(std::move(earlier));
    AddCourse(explanation, sentences);
    if (std::string next = NextStepSentence(explanation); !next.empty()) {
      sentences.push_back(std::move(next));
    }
    AddIdle(explanation, sentences);
    return sentences;
  }
  const Ledger& ledger = explanation.card_of_verdict().ledger;
  std::vector<std::string> sentences = {
      "OUT OF MEMORY " + DescribePosition(explanation.failure.request->at) + ". " +
          UnneededSentences(explanation) + Reason(explanation, ledger),
      Shortage(explanation)};
  AddNeedOfStep(explanation, sentences);
  if (std::string deleted = DeletedModelsSentence(explanation); !deleted.empty())
    sentences.push_back(std::move(deleted));
  for (const analysis::Contribution& contribution : explanation.failure.verdict.contributing) {
    const std::string text = ContributionSentence(contribution);
    if (!text.empty()) sentences.push_back(text);
  }
  AddEmptyCards(explanation, sentences);
  AddCourse(explanation, sentences);
  AddIdle(explanation, sentences);
  return sentences;
}

}  // namespace memtrace::report
