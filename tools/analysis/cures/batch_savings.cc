// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/batch_savings.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/frames.h"
#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;
using trace::Phase;
using trace::Role;

// True in phases whose results have a part for each example.
bool IsPass(Phase phase) {
  return phase == Phase::kForward || phase == Phase::kRecompute || phase == Phase::kEvaluate ||
         phase == Phase::kGenerate;
}

// The file and the name of the user's function that requested the memory; empty if there is none.
using Caller = std::pair<std::string, std::string>;
Caller CallerOf(const std::vector<trace::Frame>& stack) {
  const trace::Frame* user = InnermostUserFrame(stack);
  return user == nullptr ? Caller() : Caller(user->file, user->function);
}

class BatchSavingFinder {
 public:
  explicit BatchSavingFinder(const SavingFacts& facts)
      : facts_(facts),
        batch_(AnnotatedNumber(facts.annotations, fact::kForwardBatch).value_or(0)),
        sequence_(AnnotatedNumber(facts.annotations, fact::kForwardSequence).value_or(0)) {}

  std::vector<Saving> Run() {
    // Memory left by failed attempts is in the way of a batch of any size.
    if (facts_.attempts && facts_.attempts->bytes >= facts_.held.bytes / 100) return {};
    if (facts_.kept && facts_.kept->is_in_vain()) return {};
    // A request after the loop is computed from the results of all batches, not of one.
    if (facts_.is_after_loop && !facts_.request_stack.empty()) return {};
    // A model that is being moved to the card has no batch.
    if (facts_.verdict.rest.source == NeedSource::kPlacement) return {};
    // A VAE decodes rows of its own, and the join of all batches' results does not depend on one
    // batch.
    if (IsVaeDecoding(facts_.request_stack) || IsEvaluationResult(facts_.request_stack)) return {};
    if (!facts_.results) AddSmallerBatch();  // earlier passes kept no results yet
    if (batch_ == 1) {
      if (sequence_ > 1) Add(Id::kHalfSequence, sequence_);
    } else if (IsGenerationFromOnePrompt()) {
      Add(Id::kFewerSequences, batch_);
    } else {
      // A validation within a training has its own passes.
      const bool is_training =
          facts_.moment.phase != Phase::kEvaluate && facts_.moment.phase != Phase::kGenerate &&
          facts_.Held(Role::kGradient) + facts_.Held(Role::kOptimizerState) > 0;
      Add(is_training ? Id::kHalfMicroBatch : Id::kHalfBatch, batch_);
    }
    return list_.Take();
  }

 private:
  bool IsGenerationFromOnePrompt() const {
    return facts_.moment.phase == Phase::kGenerate &&
           AnnotatedNumber(facts_.annotations, fact::kGenerateBatch) == 1;
  }

  // Adds a saving of half the memory that has an equal part for each of `count` examples. If the
  // count is not known, all memory of the pass is taken to have such parts.
  void Add(Id id, uint64_t count) {
    const uint64_t half = BytesOfPass(std::max<uint64_t>(count, 1)) / 2;
    const uint64_t freed = Less(half, id == Id::kHalfMicroBatch ? GradientsOfAccumulation() : 0);
    // Results are kept on, so a smaller pass has to make up for what was missing at least.
    if (facts_.results && freed < facts_.verdict.short_by) return;
    list_.Add(SavingOf(id, freed, half));
  }

  // Bytes of gradients that do not exist yet. In the second pass of an accumulation all exist,
  // because the first one made them.
  uint64_t GradientsOfAccumulation() const {
    return Less(facts_.TrainedBytes(),
                facts_.Held(Role::kGradient) + facts_.verdict.rest.optimizer.gradients);
  }

  // Adds the batch size of earlier passes of training on this card; the need is what those needed.
  void AddSmallerBatch() {
    if (!facts_.largest_call || facts_.moment.phase == Phase::kEvaluate) return;
    const CallSize& now = facts_.largest_call->now;
    const CallSize& before = facts_.largest_call->before;
    const uint64_t of_pass = BytesOfPass(std::max<uint64_t>(batch_, 1));
    Saving saving =
        SavingOf(Id::kBatchAsBefore, of_pass - of_pass / now.elements() * before.elements(), 0);
    saving.change = AsBefore(before, MessageOf(saving.change));
    const uint64_t used = Less(facts_.ledger.total, Unused(facts_.ledger));
    saving.need = facts_.peak_of_earlier_steps + Less(used, facts_.held.bytes);
    list_.Add(std::move(saving));
  }

  static std::string AsBefore(const CallSize& size, const std::string& change) {
    if (size.length == 0)
      return CountedMessage(size.examples, "at most 1 example in a batch, as before: $0",
                            "at most $1 examples in a batch, as before: $0", change, size.examples);
    return Message("at most $0 x $1 in a batch, as before: $2", size.examples, size.length, change);
  }

  // Returns the bytes that the running step has computed. What earlier steps left behind does not
  // depend on the batch.
  uint64_t BytesOfPass(uint64_t count) const {
    uint64_t bytes = 0;
    std::set<Caller> callers;
    facts_.ForEachPart(facts_.source.best_evidence(), [&](const Block& block, const Part& part) {
      if (block.allocation.requested % count != 0 || !IsOfPass(block, part.identity.role)) return;
      bytes += part.bytes;
      callers.insert(CallerOf(facts_.source.Stack(block.allocation.stack)));
    });
    // At a limit the card has room for the request, so the limit is what has to change.
    const bool is_asked =
        IsPass(facts_.moment.phase) ? callers.contains(CallerOfRequest()) : IsRequestOfBackward();
    const bool is_of_pass = is_asked && facts_.verdict.cause != Cause::kLimit;
    if (is_of_pass && facts_.request_bytes % count == 0) bytes += facts_.request_bytes;
    return bytes + facts_.verdict.rest.OfPass();
  }

  // True if a backward requested more than the gradient of any parameter takes, so that the request
  // depends on the examples; what the backward gathers from other ranks does not.
  bool IsRequestOfBackward() const {
    if (facts_.moment.phase != Phase::kBackward || IsGathering(facts_.request_stack)) return false;
    uint64_t largest = 0;
    facts_.ForEachPart(Evidence::kStated, [&largest](const Block&, const Part& part) {
      if (part.identity.role == Role::kParameter) largest = std::max(largest, part.bytes);
    });
    return largest > 0 && facts_.request_bytes > largest;
  }

  Caller CallerOfRequest() const {
    static const Caller kNobody("", "no request");
    return facts_.request_stack.empty() ? kNobody : CallerOf(facts_.request_stack);
  }

  // True if the block's size depends on the batch. A cache of generate() or of a model's call has a
  // part for each of its sequences; a server's cache exists from the start.
  bool IsOfPass(const Block& block, Role role) const {
    if (block.birth.step < facts_.moment.step) return false;
    if (facts_.results && facts_.results->sequences.contains(block.sequence)) return false;
    if (role == Role::kActivation) return true;
    if (role == Role::kTemporary) return IsPass(block.birth.phase);
    if (role != Role::kKvCache) return false;
    const bool is_of_call = IsPass(block.birth.phase) && block.allocation.module != 0;
    return block.birth.phase == Phase::kGenerate || is_of_call;
  }

  const SavingFacts& facts_;
  uint64_t batch_;     // 0 if it is not known
  uint64_t sequence_;  // likewise
  SavingList list_;
};

}  // namespace

std::vector<Saving> FindBatchSavings(const SavingFacts& facts) {
  return BatchSavingFinder(facts).Run();
}

}  // namespace memtrace::analysis
