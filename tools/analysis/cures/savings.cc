// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/savings.h"

#include <algorithm>

#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/cures/batch_savings.h"
#include "tools/analysis/cures/block_savings.h"
#include "tools/analysis/cures/call_savings.h"
#include "tools/analysis/cures/growth_cure.h"
#include "tools/analysis/cures/launch_savings.h"
#include "tools/analysis/cures/optimizer_savings.h"
#include "tools/analysis/cures/unneeded_savings.h"
#include "tools/analysis/holders/model_copies.h"
#include "tools/analysis/holders/movable_owners.h"
#include "tools/analysis/holders/repeated_layers.h"
#include "tools/analysis/source/frame_rules.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;
using trace::Role;

std::string CheckpointingOf(const RepeatedLayers& layers, const Annotations& annotations) {
  if (AnnotatedNumber(annotations, fact::kCheckpointInEval) == 1)
    return "model.train(): checkpointing is on and does nothing in eval mode";
  if (layers.name == "*") {  // an nn.Sequential is the model, and its parts have numbers alone
    return "torch.utils.checkpoint.checkpoint_sequential(model, " + std::to_string(layers.count) +
           ", x, use_reentrant=False), or a checkpoint around each of its parts";
  }
  const bool is_in_eval = AnnotatedNumber(annotations, fact::kCheckpointLayersInEval) == 1;
  return layers.is_of_transformers
             ? "checkpoint " + layers.name + ": model.gradient_checkpointing_enable()" +
                   (is_in_eval ? " and model.train(): in eval mode, as it is, it does nothing" : "")
             : "torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False) around each of " +
                   layers.name;
}

class SavingFinder {
 public:
  explicit SavingFinder(const SavingFacts& facts) : facts_(facts) {}

  std::vector<Saving> Run() {
    for (Saving& saving : FindLaunchSavings(facts_)) list_.Add(std::move(saving));
    FindWaiting();
    FindMeanResizing();
    FindCheckpointing();
    FindUnsteppedGradients();
    FindCopies();
    FindDeletedModels();
    FindOwners();
    for (const auto& find : {FindBatchSavings, FindOptimizerSavings, FindBlockSavings,
                             FindCallSavings, FindUnneededSavings})
      for (Saving& saving : find(facts_)) list_.Add(std::move(saving));
    FindSummedPasses();
    FindKept();
    std::vector<Saving> savings = list_.Take();
    std::erase_if(savings, [this](const Saving& saving) {
      return saving.bytes < facts_.held.bytes / 100 && !saving.is_small_and_matters;
    });
    return savings;
  }

 private:
  void FindWaiting() {
    if (facts_.verdict.cause != Cause::kStreamWait) return;
    const uint64_t waiting = facts_.ledger.positive(LedgerPart::kStreamWait);
    list_.Add(SavingOf(Id::kWaitForStreams, waiting, waiting));
  }

  void FindMeanResizing() {
    uint64_t bytes = IsMeanResizing(facts_.request_stack) ? facts_.request_bytes : 0;
    bytes += facts_.BytesWhere(IsMeanResizing);
    list_.Add(SavingOf(Id::kMeanResizing, bytes, 0));
  }

  // Recomputation is for a backward. Where none runs, nothing has to be kept or computed again.
  void FindCheckpointing() {
    if (facts_.kept && facts_.kept->is_in_vain()) return;
    for (const RepeatedLayers& layers :
         FindRepeatedLayers(facts_.of_others, facts_.live, facts_.source)) {
      const uint64_t kept = layers.largest + layers.count * layers.boundary;
      const bool is_in_layers =
          layers.is_checkpointed &&
          AnnotatedText(facts_.annotations, fact::kCheckpointWholeModel).empty();
      if (layers.bytes <= kept || is_in_layers || layers.is_transformed) continue;
      const uint64_t to_come = OfLayersToCome(layers);
      list_.Add(SavingOf(Id::kCheckpointing, layers.bytes - kept + to_come, layers.bytes - kept),
                CheckpointingOf(layers, facts_.annotations));
    }
  }

  // Bytes of these layers that the pass had not reached and that checkpointing would not keep.
  uint64_t OfLayersToCome(const RepeatedLayers& layers) const {
    const RestOfStep& rest = facts_.verdict.rest;
    if (rest.OfPass() == 0 || !rest.layers || rest.layers->name != layers.name) return 0;
    return rest.layers->WithoutBoundaries(layers.boundary);
  }

  // Unstepped gradients are known only after an update, because no parameter has states before it.
  // The program uses what torch.autograd.grad returns to it without an optimizer.
  void FindUnsteppedGradients() {
    if (AnnotatedText(facts_.annotations, fact::kBackwardReturnsGradients) == "1") return;
    if (facts_.update.first_phase_run == 0 || !facts_.update.over) return;
    const UnsteppedGradients unstepped = FindUnstepped(facts_.captured, facts_.live, facts_.source);
    if (unstepped.bytes == 0) return;
    list_.Add(SavingOf(Id::kFreeze, unstepped.bytes, unstepped.bytes),
              "requires_grad_(False) of " + unstepped.name + ", whose gradients nobody uses");
  }

  // Graphs hold parameters of deleted models; which activations belong to these graphs is not
  // known.
  void FindDeletedModels() {
    if (!facts_.deleted) return;
    const Keeper& keeper = facts_.deleted->keeper;
    Saving saving = SavingOf(Id::kDoNotKeep, facts_.deleted->bytes, facts_.deleted->bytes);
    saving.change = ".detach() before " + TakerOf(keeper) +
                    " takes it, or torch.no_grad(): its graph keeps the parameters of deleted "
                    "models";
    list_.Add(std::move(saving));
  }

  // A deleted model is not a copy. A copy as large as what is trained is meant to differ.
  void FindCopies() {
    if (facts_.deleted) return;
    for (const ModelCopy& copy : FindModelCopies(facts_.captured, facts_.live, facts_.source)) {
      if (IsUnread(copy) || IsCopyOfTrained(copy)) continue;
      list_.Add(SavingOf(Id::kNoSecondCopy, copy.bytes, copy.bytes),
                "share what " + copy.site + " copies and does not change");
    }
  }

  // True if optimizers step as many parameters: the original changes and the copy is to stay as it
  // was, or the other way round. In a model that adapters train, both stay as they are.
  bool IsCopyOfTrained(const ModelCopy& copy) const { return facts_.TrainedBytes() >= copy.bytes; }

  // True if a name that nothing reads again holds most of the copy: it is the latest, and another
  // will be made.
  bool IsUnread(const ModelCopy& copy) const {
    return std::any_of(facts_.unread.begin(), facts_.unread.end(), [&copy](const auto& value) {
      return value.made_at == copy.site && value.bytes >= copy.bytes / 2;
    });
  }

  // True if most of what the site gained is gradients that an update left, which have their own
  // row.
  bool IsOfOldGradients(const GrowingSite& site) const {
    return std::any_of(list_.found().begin(), list_.found().end(), [&site](const Saving& saving) {
      return saving.name == remedies::RowOf(Id::kNoOldGradients).name &&
             saving.bytes >= site.gained / 2;
    });
  }

  // True if what grows is dead and no variable of the program keeps it.
  bool IsOfDeadCycles() const {
    return facts_.dead && facts_.dead->bytes >= facts_.growth.gained() / 10 * 9;
  }

  // With a backward in each pass its graph is freed; these graphs are what grows within a step.
  void FindSummedPasses() {
    if (!facts_.summed || facts_.summed->hands_on()) return;
    Saving saving = SavingOf(Id::kBackwardInEachPass, facts_.summed->bytes, facts_.summed->bytes);
    saving.change = "inside of the loop at " + facts_.summed->loop +
                    " the backward of what each pass adds to '" + facts_.summed->name +
                    "', in the place of the one at " + facts_.summed->backward +
                    ": gradients add up";
    saving.at_least = true;  // the backward of one pass has not been seen
    saving.ends_growth = IsGrowthWithinStep();
    list_.Add(std::move(saving));
  }

  // True if the iterations that grow have a backward, as far as is known. Where a program
  // validates, some calls without one follow the last.
  bool NeedsGraphs() const {
    constexpr uint64_t kFewCalls = 2;
    return !AnnotatedText(facts_.annotations, fact::kBackwardPlace).empty() &&
           AnnotatedNumber(facts_.annotations, fact::kForwardSinceBackward).value_or(0) <=
               kFewCalls;
  }

  // Returns the change for modules that are made again and again and all stay.
  std::string WithoutOldParameters() const {
    const std::string how = facts_.GrowsBy(IsOfAdapters)
                                ? "model.delete_adapter(NAME) of those that are no longer used"
                                : "delete the modules that are no longer used";
    return how + ", or move them to the host: the parameters that " +
           GrowingLinesText(facts_.growth) + " stay";
  }

  bool IsGrowthWithinStep() const {
    return !facts_.growth.sites.empty() && facts_.growth.kind != IterationKind::kStep;
  }

  // Finds all that grows. With only a part of it freed, the card would still fill up, only later.
  void FindKept() {
    if (facts_.growth.sites.empty() || IsOfDeadCycles()) return;
    if (facts_.summed && IsGrowthWithinStep()) return;
    if (facts_.GrowsBy(IsEvaluationResult)) return;  // the row for these ends it
    if (facts_.GrowsByCaptures()) return;            // likewise
    if (IsOfOldGradients(facts_.growth.sites.front())) return;
    const uint64_t gained = facts_.growth.gained();
    Saving saving = SavingOf(Id::kDoNotKeep, gained, gained);
    saving.change = facts_.GrowsByParameters()
                        ? WithoutOldParameters()
                        : WithoutKeeping(facts_.growth, NeedsGraphs(), saving.change);
    saving.ends_growth = true;
    list_.Add(std::move(saving));
  }

  void FindOwners() {
    for (const MovableOwner& owner :
         FindMovableOwners(facts_.captured, facts_.live, facts_.source)) {
      if (owner.is_in_use) {
        list_.Add({owner.name + " on another card", owner.bytes, owner.bytes, "estimated",
                   Effort::kLines, "its inputs and outputs go from card to card",
                   ".to('cuda:1') of " + owner.name + ", of which nothing is trained",
                   remedies::RowOf(Id::kSecondCard).hook});
      } else {
        list_.Add({owner.name + " elsewhere", owner.bytes, owner.bytes, "estimated", Effort::kLines,
                   "it is copied back for each use, or runs on another card",
                   ".to('cpu') of " + owner.name + " while it is idle, or .to('cuda:1')",
                   remedies::RowOf(Id::kHostModels).hook});
      }
    }
  }

  const SavingFacts& facts_;
  SavingList list_;
};

}  // namespace

std::vector<Saving> FindSavings(const SavingFacts& facts) { return SavingFinder(facts).Run(); }

}  // namespace memtrace::analysis
