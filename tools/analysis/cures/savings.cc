// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/savings.h"

#include <algorithm>

#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/cures/activation_savings.h"
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
    return Message("model.train(): checkpointing is on, but does nothing in eval mode");
  if (layers.name == "*") {  // an nn.Sequential is the model, and its parts have numbers alone
    return Message(
        "torch.utils.checkpoint.checkpoint_sequential(model, $0, x, use_reentrant=False), or a "
        "checkpoint around each of its parts",
        layers.count);
  }
  if (!layers.is_of_transformers)
    return Message(
        "torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False) around each of $0",
        layers.name);
  if (AnnotatedNumber(annotations, fact::kCheckpointLayersInEval) == 1)
    return Message(
        "checkpoint $0: model.gradient_checkpointing_enable() and model.train(); the model is in "
        "eval mode, in which checkpointing does nothing",
        layers.name);
  if (layers.is_in_users_module)
    return Message(
        "checkpoint $0: gradient_checkpointing_enable() of the transformers model that has them",
        layers.name);
  return Message("checkpoint $0: model.gradient_checkpointing_enable()", layers.name);
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
                             FindActivationSavings, FindCallSavings, FindUnneededSavings})
      for (Saving& saving : find(facts_)) list_.Add(std::move(saving));
    FindSummedPasses();
    FindKept();
    FindResults();
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
              Message("requires_grad_(False) on $0, whose gradients nothing uses", unstepped.name));
  }

  // Graphs hold parameters of deleted models; which activations belong to these graphs is not
  // known.
  void FindDeletedModels() {
    if (!facts_.deleted) return;
    const Keeper& keeper = facts_.deleted->keeper;
    Saving saving = SavingOf(Id::kDoNotKeep, facts_.deleted->bytes, facts_.deleted->bytes);
    saving.change = Message(
        ".detach() before $0 takes it, or torch.no_grad(): its graph keeps the parameters of "
        "deleted models",
        TakerOf(keeper));
    list_.Add(std::move(saving));
  }

  // A deleted model is not a copy. A copy as large as what is trained is meant to differ.
  void FindCopies() {
    if (facts_.deleted) return;
    for (const ModelCopy& copy : FindModelCopies(facts_.captured, facts_.live, facts_.source)) {
      if (IsUnread(copy) || IsCopyOfTrained(copy)) continue;
      list_.Add(SavingOf(Id::kNoSecondCopy, copy.bytes, copy.bytes),
                Message("share what $0 copies and does not change", copy.site));
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
    saving.change = Message(
        "inside the loop at $0, call backward() on what each pass adds to '$1', instead of the "
        "backward at $2: gradients add up",
        facts_.summed->loop, facts_.summed->name, facts_.summed->backward);
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
    const std::string lines = GrowingLinesText(facts_.growth);
    if (facts_.GrowsBy(IsOfAdapters))
      return Message(
          "model.delete_adapter(NAME) for adapters that are no longer used, or move them to the "
          "host: the parameters allocated at $0 stay",
          lines);
    return Message(
        "delete the modules that are no longer used, or move them to the host: the parameters "
        "allocated at $0 stay",
        lines);
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
                        : WithoutKeeping(facts_.growth, NeedsGraphs(), MessageOf(saving.change));
    saving.ends_growth = true;
    list_.Add(std::move(saving));
  }

  // Finds results that a container keeps, if they are not what grows and no row frees their graphs.
  void FindResults() {
    if (!facts_.results || facts_.results->name.empty() || facts_.summed) return;
    const KeptResults& results = *facts_.results;
    if (facts_.growth.gained() >= results.bytes / 2) return;
    if (facts_.kept && facts_.kept->is_in_vain()) return;
    Saving saving = SavingOf(Id::kDoNotKeep, results.bytes, 0);
    saving.change =
        results.has_graphs
            ? Message(
                  "move each result to the host without its graph before '$0' ($1) takes it: "
                  ".detach().cpu(); torch.no_grad() if no backward follows. It keeps what is "
                  "allocated at $2",
                  results.name, results.place, results.line)
            : Message(
                  "move each result to the host before '$0' ($1) takes it: .cpu(), or .item() for "
                  "a number. It keeps what is allocated at $2",
                  results.name, results.place, results.line);
    saving.ends_growth = true;
    list_.Add(std::move(saving));
  }

  void FindOwners() {
    for (const MovableOwner& owner :
         FindMovableOwners(facts_.captured, facts_.live, facts_.source)) {
      if (owner.is_in_use) {
        list_.Add({Message("$0 on another card", owner.name), owner.bytes, owner.bytes, "estimated",
                   Effort::kLines, Message("its inputs and outputs are copied between cards"),
                   Message(".to('cuda:1') on $0, of which nothing is trained", owner.name),
                   remedies::RowOf(Id::kSecondCard).hook});
      } else {
        list_.Add({Message("$0 elsewhere", owner.name), owner.bytes, owner.bytes, "estimated",
                   Effort::kLines,
                   Message("it is copied back for each use, or runs on another card"),
                   Message(".to('cpu') on $0 while it is idle, or .to('cuda:1')", owner.name),
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
