// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/block_savings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/cures/launch_savings.h"
#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;
using trace::Phase;
using trace::Role;

class BlockSavingFinder {
 public:
  explicit BlockSavingFinder(const SavingFacts& facts) : facts_(facts) {}

  std::vector<Saving> Run() {
    FindCheckpoints();
    FindUnusedGraphs();
    FindUntrainedGraphs();
    FindTrainedCopies();
    FindOldGradients();
    FindBuckets();
    FindPools();
    return list_.Take();
  }

 private:
  void FindCheckpoints() {
    uint64_t loaded = 0;
    uint64_t of_safetensors = 0;
    uint64_t gathered = 0;
    uint64_t copied = 0;
    facts_.ForEachPart(Evidence::kStated, [&](const Block& block, const Part& part) {
      if (part.identity.role != Role::kCheckpoint) return;
      const auto stack = facts_.source.Stack(block.allocation.stack);
      if (IsLoading(stack)) loaded += part.bytes;
      if (IsOfSafetensors(stack)) of_safetensors += part.bytes;
      if (IsGathering(stack)) gathered += part.bytes;
      if (IsDeepCopy(stack)) copied += part.bytes;
    });
    FindCopiedState(copied);
    list_.Add(SavingOf(Id::kShardedState, gathered, gathered));
    if (!RanksLoadOntoThisCard(facts_)) FindLoaded(loaded, of_safetensors);
  }

  void FindLoaded(uint64_t loaded, uint64_t of_safetensors) {
    Saving on_host = SavingOf(Id::kHostCheckpoint, loaded, loaded);
    if (2 * of_safetensors > loaded)
      on_host.change = Message(
          "load_file(..., device=\"cpu\"), or del of each tensor after the model has taken it "
          "over");
    // Without a model that takes it over, the program computes with the checkpoint itself.
    if (2 * facts_.Held(Role::kParameter) < loaded)
      on_host.cost = Message("the program computes with it on the host, or tensor by tensor");
    if (AnnotatedNumber(facts_.annotations, fact::kSourceTrains) == 0)
      on_host.percent_that_fits = kPercentOfLoaded;
    list_.Add(std::move(on_host));
  }

  void FindCopiedState(uint64_t bytes) {
    Saving saving = SavingOf(Id::kHostCheckpoint, bytes, bytes);
    saving.change = Message(
        "copy each tensor of the state dict with .cpu(), or torch.save() it, instead of "
        "copy.deepcopy");
    saving.cost = Message("a copy to the host");
    list_.Add(std::move(saving));
  }

  // Without a graph a pass still holds its current temporaries. Their size is not known, so the
  // need is a lower bound.
  void FindUnusedGraphs() {
    if (!facts_.kept || !facts_.kept->is_in_vain()) return;
    const uint64_t kept = facts_.kept->bytes;
    Saving saving = SavingOf(Id::kNoGraph, kept + facts_.verdict.rest.OfPass(), kept);
    saving.at_least = true;
    if (facts_.kept->is_eval)
      saving.change = Message("with torch.no_grad(): around this pass of a model in eval mode");
    list_.Add(std::move(saving));
  }

  // Like FindUnusedGraphs(), this finds a lower bound of the need.
  void FindUntrainedGraphs() {
    if (!facts_.untrained) return;
    const uint64_t kept = facts_.untrained->bytes;
    const uint64_t to_come = facts_.untrained->is_running ? facts_.verdict.rest.OfPass() : 0;
    Saving saving = SavingOf(Id::kNoGraph, kept + to_come, kept);
    saving.at_least = true;
    saving.change = Message(
        "with torch.no_grad(): around the call at $0; the model is in eval mode, and no optimizer "
        "steps it",
        facts_.untrained->line);
    saving.cost = Message("none if nothing reads gradients of its parameters");
    list_.Add(std::move(saving));
  }

  // Finds copies of whole modules that peft trains beside the adapters. Adapters in their place
  // take a tenth as much or less.
  void FindTrainedCopies() {
    constexpr uint64_t kOfAdapters = 10;
    uint64_t bytes = 0;
    uint64_t weights = 0;
    facts_.ForEachPart(Evidence::kStated, [&](const Block&, const Part& part) {
      const bool is_of_training = part.identity.role == Role::kParameter ||
                                  part.identity.role == Role::kGradient ||
                                  part.identity.role == Role::kOptimizerState;
      const std::string_view path = facts_.source.String(part.identity.path);
      if (!is_of_training || path.find(".modules_to_save.") == std::string_view::npos) return;
      bytes += part.bytes;
      if (part.identity.role == Role::kParameter) weights += part.bytes;
    });
    const uint64_t to_come = ToComeOf(weights);
    list_.Add(SavingOf(Id::kNoTrainedCopies, bytes - bytes / kOfAdapters + to_come,
                       bytes + to_come - (bytes + to_come) / kOfAdapters));
  }

  // Returns the bytes of the states, gradients and copies to come that belong to `weights` bytes of
  // the trained parameters.
  uint64_t ToComeOf(uint64_t weights) const {
    const RestOfStep& rest = facts_.verdict.rest;
    const bool is_counted =
        rest.source == NeedSource::kOptimizer || rest.source == NeedSource::kForeachCopy;
    const uint64_t trained = facts_.TrainedBytes();
    if (!is_counted || trained < weights || trained == 0) return 0;
    const double left = static_cast<double>(trained - weights) / static_cast<double>(trained);
    const auto less = [left](uint64_t bytes) {
      return static_cast<uint64_t>(static_cast<double>(bytes) * left);
    };
    OptimizerNeed then = rest.optimizer;
    then.states = less(then.states);
    then.gradients = less(then.gradients);
    then.copy = less(then.copy);
    return Less(rest.RiseWith(rest.optimizer), rest.RiseWith(then));
  }

  bool IsOfGrowth(const Block& block) const {
    return std::any_of(facts_.growth.sites.begin(), facts_.growth.sites.end(),
                       [stack = block.allocation.stack](const GrowingSite& site) {
                         return std::find(site.stacks.begin(), site.stacks.end(), stack) !=
                                site.stacks.end();
                       });
  }

  // Old gradients are in the way until the next backward, which makes its own; its need comes on
  // top. While a backward or an update runs, only gradients that increase with each step are known
  // to be useless to it.
  void FindOldGradients() {
    const Position& now = facts_.moment;
    if (now.step == 0) return;
    const bool may_be_used = now.phase == Phase::kBackward || now.phase == Phase::kOptimizer;
    uint64_t growing = 0;
    uint64_t others = 0;
    facts_.ForEachPart(Evidence::kStated, [&](const Block& block, const Part& part) {
      if (part.identity.role != Role::kGradient || block.birth.step >= now.step) return;
      (IsOfGrowth(block) ? growing : others) += part.bytes;
    });
    const uint64_t bytes = growing + (may_be_used ? 0 : others);
    Saving saving = SavingOf(Id::kNoOldGradients, bytes, 0);
    saving.at_least = true;
    saving.ends_growth = growing >= facts_.growth.gained() / 2 && growing > 0;
    list_.Add(std::move(saving));
  }

  // Gradients that are copied into buckets and back exist in both. Gradients that are views of
  // their bucket have no blocks of their own.
  void FindBuckets() {
    uint64_t buckets = 0;
    facts_.ForEachPart(Evidence::kStated, [&](const Block& block, const Part& part) {
      if (part.identity.role == Role::kComm &&
          IsOfDataParallelRanks(facts_.source.Stack(block.allocation.stack)))
        buckets += part.bytes;
    });
    const uint64_t twice = std::min(buckets, facts_.Held(Role::kGradient));
    list_.Add(SavingOf(Id::kBucketView, twice, twice));
  }

  // Free memory in the pools of graphs is only for their own replays. If it were in one pool, or if
  // the graphs took turns, the pool that has most of it would have enough for all. What pools have
  // in common is counted once.
  void FindPools() {
    AddPools(Id::kOnePool, &FreeOfPool::bytes);
    AddPools(Id::kGraphTurns, &FreeOfPool::granules);
  }

  void AddPools(Id id, uint64_t FreeOfPool::*amount) {
    uint64_t sum = 0;
    uint64_t most = 0;
    for (const FreeOfPool& pool : facts_.ledger.pools) {
      sum += pool.*amount;
      most = std::max(most, pool.*amount);
    }
    Saving saving = SavingOf(id, sum - most, sum - most);
    saving.at_least = true;
    saving.ends_growth = facts_.GrowsByCaptures();
    list_.Add(std::move(saving));
  }

  const SavingFacts& facts_;
  SavingList list_;
};

}  // namespace

std::vector<Saving> FindBlockSavings(const SavingFacts& facts) {
  return BlockSavingFinder(facts).Run();
}

}  // namespace memtrace::analysis
