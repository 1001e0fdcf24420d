// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/activation_savings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/holders/call_sizes.h"
#include "tools/analysis/holders/logits.h"
#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;
using trace::Phase;
using trace::Role;

// The number of pieces in which logits are computed; one piece exists at a time.
constexpr uint64_t kPiecesOfLogits = 8;
constexpr size_t kFewestCasts = 4;
constexpr uint64_t kSmallPart = 10;

// Saving::percent_that_fits if the pass leaves nothing but what is not needed.
constexpr uint64_t kPercentOfAlike = 95;

class ActivationSavingFinder {
 public:
  explicit ActivationSavingFinder(const SavingFacts& facts) : facts_(facts) {}

  std::vector<Saving> Run() {
    FindAttentionWeights();
    FindGatheredOutputs();
    FindLogits();
    FindCasts();
    return list_.Take();
  }

 private:
  std::string_view ModuleOf(const Block& block) const {
    return facts_.source.String(block.allocation.module);
  }

  // The output of softmax is kept twice: as it is, and as the input of dropout or of the average
  // over heads.
  uint64_t AttentionWeights(const StackRule& is_within, const StackRule& is_softmax) {
    std::set<uint64_t> sizes;
    if (is_softmax(facts_.request_stack)) sizes.insert(facts_.request_bytes);
    for (const Block* block : facts_.BlocksWhere(is_softmax))
      sizes.insert(block->allocation.requested);
    // They are in fp32, and in the 16 bits that the scores have.
    const auto are_weights = [&sizes](uint64_t bytes) {
      return sizes.contains(bytes) || sizes.contains(2 * bytes);
    };
    if (sizes.empty()) return 0;
    const bool is_asked = is_within(facts_.request_stack) && are_weights(facts_.request_bytes);
    uint64_t bytes = is_asked ? facts_.request_bytes : 0;
    for (const Block* block : facts_.BlocksWhere(is_within))
      if (are_weights(block->allocation.requested)) bytes += block->allocation.requested;
    return bytes;
  }

  void FindAttentionWeights() {
    const uint64_t bytes = AttentionWeights(IsWithinAttention, IsAttentionSoftmax);
    Saving saving = SavingOf(Id::kNeedWeights, bytes, bytes);
    saving.percent_that_fits = kPercentOfPass;
    list_.Add(std::move(saving));
    const uint64_t eager = AttentionWeights(IsWithinEagerAttention, IsEagerSoftmax);
    list_.Add(SavingOf(Id::kFusedAttention, eager, eager));
  }

  // Finds what DataParallel gathered and the results of the same size computed from it. With the
  // loss on each card, each of two or more cards would hold only its part.
  void FindGatheredOutputs() {
    std::set<uint64_t> sizes;
    for (const Block* block : facts_.BlocksWhere(IsParallelGather))
      sizes.insert(block->allocation.requested);
    if (sizes.empty()) return;
    uint64_t bytes = sizes.contains(facts_.request_bytes) ? facts_.request_bytes : 0;
    facts_.ForEachBlock([&](BlockId, const Block& block) {
      if (sizes.contains(block.allocation.requested)) bytes += block.allocation.requested;
    });
    list_.Add(SavingOf(Id::kLossOnEachCard, bytes / 2, bytes / 2));
  }

  // Returns the size of the head's largest output of this step that is still in use, or 0.
  uint64_t OutputOfHead() const {
    uint64_t size = 0;
    facts_.ForEachBlock([&](BlockId, const Block& block) {
      if (!IsHead(ModuleOf(block))) return;
      if (block.birth.step == facts_.moment.step) size = std::max(size, block.allocation.requested);
    });
    return size;
  }

  // Returns the bytes of two gradients of the head's weight: the one that each piece adds to, and
  // the one that it adds. 0 if the program does not train so much. A head that shares the
  // embedding's weight has that one's gradients.
  uint64_t GradientsOfHead() const {
    const uint64_t words =
        AnnotatedNumber(facts_.annotations, fact::kForwardVocabulary).value_or(0);
    if (words == 0) return 0;
    uint64_t weight = 0;
    facts_.ForEachPart(Evidence::kStated, [&](const Block&, const Part& part) {
      if (part.identity.role == Role::kParameter && part.bytes % words == 0)
        weight = std::max(weight, part.bytes);
    });
    return weight <= facts_.TrainedBytes() ? 2 * weight : 0;
  }

  // Finds the head's output and everything of its size or twice that (fp32 of half).
  void FindLogits() {
    const uint64_t of_head = OutputOfHead();
    const uint64_t size =
        of_head > 0 ? of_head : LogitsOfCall(facts_.annotations, sizeof(uint16_t));
    if (size == 0) return;
    const auto is_logits = [size](uint64_t bytes) { return bytes == size || bytes == 2 * size; };
    uint64_t bytes = is_logits(facts_.request_bytes) ? facts_.request_bytes : 0;
    facts_.ForEachPart(facts_.source.best_evidence(), [&](const Block& block, const Part& part) {
      const bool is_computed =
          part.identity.role == Role::kActivation || part.identity.role == Role::kTemporary;
      if (is_computed && is_logits(block.allocation.requested)) bytes += part.bytes;
    });
    bytes = Less(bytes, bytes / kPiecesOfLogits + GradientsOfHead());
    Saving saving = SavingOf(Id::kLogitsInPieces, bytes, bytes);
    if (facts_.moment.phase == Phase::kEvaluate) {
      saving.change = Message(
          "model(..., logits_to_keep=1) of transformers if only the last position is read; "
          "otherwise "
          "compute the head in eight pieces of the sequence");
      saving.cost = Message("none in the results");
    }
    list_.Add(std::move(saving));
  }

  // Finds a block for each module, half the size of its weight, that outlives a pass without
  // gradients.
  void FindCasts() {
    if (AnnotatedText(facts_.annotations, fact::kForwardAutocastCache) != "1") return;
    std::map<std::string, uint64_t, std::less<>> weights;
    facts_.ForEachPart(Evidence::kStated, [&](const Block&, const Part& part) {
      if (part.identity.role == Role::kParameter)
        weights.emplace(facts_.source.String(part.identity.path), part.bytes);
    });
    std::map<std::string_view, uint64_t> casts;
    uint64_t others = 0;
    facts_.ForEachBlock([&](BlockId, const Block& block) {
      if (block.birth.phase != Phase::kEvaluate || block.labelled) return;
      others += block.allocation.requested;
      const auto weight = weights.find(std::string(ModuleOf(block)) + ".weight");
      if (weight != weights.end() && block.allocation.requested * 2 == weight->second)
        casts.emplace(ModuleOf(block), block.allocation.requested);
    });
    if (casts.size() < kFewestCasts) return;
    uint64_t bytes = 0;
    for (const auto& [module, cast] : casts) bytes += cast;
    Saving saving = SavingOf(Id::kNoCastCache, bytes, bytes);
    // The pass leaves nothing but casts, so without them the modules to come leave nothing.
    if (others - bytes <= bytes / kSmallPart) saving.percent_that_fits = kPercentOfAlike;
    list_.Add(std::move(saving));
  }

  const SavingFacts& facts_;
  SavingList list_;
};

}  // namespace

std::vector<Saving> FindActivationSavings(const SavingFacts& facts) {
  return ActivationSavingFinder(facts).Run();
}

}  // namespace memtrace::analysis
