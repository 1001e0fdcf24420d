// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict/need_text.h"

#include <initializer_list>
#include <optional>
#include <utility>

#include "messages/message.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::CardExplanation;
using analysis::ExplainedCures;
using analysis::ExplainedFailure;

// Returns the estimate, made at the update before it, of the step that failed.
const analysis::NextStep* Foreseen(const ExplainedFailure& failure, const ExplainedCures& cures) {
  const auto& next = cures.next_step;
  const bool is_this = next && next->number == failure.request->at.step;
  const analysis::Verdict& verdict = failure.verdict;
  const bool is_known = verdict.step_short_by && !verdict.rest.at_least;
  return is_this && !is_known ? &*next : nullptr;
}

std::string ForeachSentence(const ExplainedFailure& failure) {
  if (!failure.foreach_copy) return "";
  const analysis::ForeachCopy& copy = *failure.foreach_copy;
  const std::string whose =
      copy.optimizer.empty() ? Message("The optimizer") : Printable(copy.optimizer);
  const std::string needed = FormatBytes(copy.still_needed);
  return JoinedSentences(
      {copy.states_complete ? Message("All optimizer states exist.") : "",
       Message("$0's foreach update was making $1 of temporary tensors.", whose,
               FormatBytes(copy.copy_bytes)),
       copy.made_bytes == 0 ? Message("None of them existed yet: the step still needed $0.", needed)
                            : Message("$0 of them existed: the step still needed $1.",
                                      FormatBytes(copy.made_bytes), needed)});
}

std::string ForeseenSentence(const ExplainedFailure& failure, const ExplainedCures& cures) {
  const analysis::NextStep* next = Foreseen(failure, cures);
  if (next == nullptr) return "";
  const std::string states = FormatBytes(next->new_states);
  const std::string need = FormatBytes(next->need);
  if (next->left_gradients == 0) {
    return Message(
        "The step before made $0 of optimizer states only at its end, so this one needs about $1 "
        "of the card (estimated).",
        states, need);
  }
  return Message(
      "The step before made $0 of optimizer states only at its end, so this one needs at least $1 "
      "of the card (estimated); the $2 of gradients that the step before left may come on top.",
      states, need, FormatBytes(next->left_gradients));
}

std::string StatesSentence(const analysis::OptimizerNeed& need) {
  if (need.states == 0) return "";
  const std::string states = FormatBytes(need.states);
  std::string text =
      need.states_made == 0
          ? Message("optimizer.step() will create $0 of optimizer states.", states)
          : Message(
                "$0 of $1 of optimizer states exist; optimizer.step() will create the other $2.",
                FormatBytes(need.states_made), FormatBytes(need.states + need.states_made), states);
  if (need.copy == 0) return text;
  return JoinedSentences(
      {text, Message("Its foreach update needs another $0 for a moment.", FormatBytes(need.copy))});
}

// Says what training allocates and had not allocated yet.
std::string OptimizerSentence(const ExplainedFailure& failure) {
  const analysis::OptimizerNeed& need = failure.verdict.rest.optimizer;
  std::string text = StatesSentence(need);
  if (need.gradients == 0) return text;
  return JoinedSentences({text, Message("$0 of gradients of trained parameters do not exist yet.",
                                        FormatBytes(need.gradients))});
}

// Says which part of the KV cache a pass over the prompt had not made yet.
std::string CacheSentence(const ExplainedFailure& failure) {
  const auto& cache = failure.verdict.rest.cache;
  if (!cache) return "";
  return Message("$0 of KV cache exists, for $1 of $2 layers; the others need about $3 more.",
                 FormatBytes(cache->made), FormatCount(cache->layers_made),
                 FormatCount(cache->layers), FormatBytes(cache->to_come));
}

// Says what the layers not yet reached by a forward pass would have kept.
std::string LayersSentence(const ExplainedFailure& failure) {
  const auto& layers = failure.verdict.rest.layers;
  if (!layers) return "";
  return Message(
      "Layer $0 of $1 ($2) was running; the rest of the forward pass would have kept about $3 "
      "more.",
      FormatCount(layers->current + 1), FormatCount(layers->layers), Printable(layers->name),
      FormatBytes(layers->to_come));
}

// Estimates the rest of this step from the previous step or micro-batch.
std::string PreviousSentence(const CardExplanation& card, const ExplainedFailure& failure) {
  const analysis::Verdict& verdict = failure.verdict;
  const bool is_step = verdict.rest.source == analysis::NeedSource::kPreviousStep;
  if (!is_step && verdict.rest.source != analysis::NeedSource::kPreviousMicroBatch) return "";
  const uint64_t unused = analysis::Unused(card.ledger);
  if (*verdict.rest.rise <= unused) {
    const std::string rise = FormatBytes(*verdict.rest.rise);
    return is_step ? Message(
                         "Going by the previous step, the rest of this one needed $0, less "
                         "than was unused.",
                         rise)
                   : Message(
                         "Going by the previous micro-batch, the rest of this one needed $0, "
                         "less than was unused.",
                         rise);
  }
  const std::string missing = FormatBytes(*verdict.step_short_by);
  return is_step ? Message(
                       "Going by the previous step, the rest of this one needed $0 more than "
                       "was unused.",
                       missing)
                 : Message(
                       "Going by the previous micro-batch, the rest of this one needed $0 more "
                       "than was unused.",
                       missing);
}

}  // namespace

std::vector<std::string> NeedSentences(const CardExplanation& card, const ExplainedFailure& failure,
                                       const ExplainedCures& cures) {
  std::vector<std::string> sentences;
  for (std::string text :
       {ForeachSentence(failure), OptimizerSentence(failure), ForeseenSentence(failure, cures),
        CacheSentence(failure), LayersSentence(failure), PreviousSentence(card, failure)}) {
    if (!text.empty()) sentences.push_back(std::move(text));
  }
  return sentences;
}

std::string NextStepSentence(const CardExplanation& card, const ExplainedCures& cures) {
  const auto& next = cures.next_step;
  const analysis::Ledger& ledger = card.ledger;
  if (!next || !ledger.total_known || next->need <= ledger.total) return "";
  return Message(
      "The next step would need $0, but the card has $1 (estimated): the $2 of optimizer states "
      "that this step created stays.",
      FormatBytes(next->need), FormatBytes(ledger.total), FormatBytes(next->new_states));
}

}  // namespace memtrace::report
