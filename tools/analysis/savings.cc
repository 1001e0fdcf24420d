// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/savings.h"

#include <algorithm>

#include "tools/analysis/batch_savings.h"
#include "tools/analysis/block_savings.h"
#include "tools/analysis/call_savings.h"
#include "tools/analysis/frame_rules.h"
#include "tools/analysis/model_copies.h"
#include "tools/analysis/movable_owners.h"
#include "tools/analysis/optimizer_savings.h"
#include "tools/analysis/repeated_layers.h"
#include "tools/analysis/unneeded_savings.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;
using trace::Role;

std::string CheckpointingOf(const RepeatedLayers& layers, const Annotations& annotations) {
  if (AnnotatedNumber(annotations, "checkpoint.in_eval") == 1)
    return "model.train(): checkpointing is on and does nothing in eval mode";
  const bool is_in_eval = AnnotatedNumber(annotations, "checkpoint.layers_in_eval") == 1;
  return layers.is_of_transformers
             ? "checkpoint " + layers.name + ": model.gradient_checkpointing_enable()" +
                   (is_in_eval ? " and model.train(): in eval mode, as it is, it does nothing" : "")
             : "torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False) around each of " +
                   layers.name;
}

// "train.py:9, train.py:12 and 3 more": the lines of what grows, fastest first, each once; the site
// of what has none.
std::string GrowingLines(const GrowthCourse& growth) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> lines;
  for (const GrowingSite& site : growth.sites) {
    const std::string& line = site.line.empty() ? site.site : site.line;
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  std::string text = lines.front();
  for (size_t i = 1; i < std::min(lines.size(), kNamed); ++i) text += ", " + lines[i];
  if (lines.size() > kNamed) text += " and " + std::to_string(lines.size() - kNamed) + " more";
  return text;
}

// The line or the variable that takes a tensor with its graph.
std::string TakerOf(const Keeper& keeper) {
  return "'" + keeper.name + "'" + (keeper.line.empty() ? "" : " (" + keeper.line + ")");
}

// `usual`: the change that is to be made where it is not known what keeps it.
std::string WithoutKeeping(const GrowthCourse& growth, const std::string& usual) {
  const std::string made = "what " + GrowingLines(growth) + " makes";
  if (growth.keeper && growth.keeper->kind == Keeper::Kind::kGradients) {
    return "torch.autograd.grad(..., create_graph=True) instead of the backward at " +
           growth.keeper->line +
           ", or .grad = None of every tensor that it gave one once that was "
           "used: nothing else frees " +
           made;
  }
  if (growth.keeper && growth.keeper->kind != Keeper::Kind::kElements) {
    return ".detach() or .item() before " + TakerOf(*growth.keeper) +
           " takes it, or torch.no_grad(): its graph keeps " + made;
  }
  if (growth.keeper && !growth.keeper->metric.empty()) {
    return growth.keeper->metric +
           "(compute_on_cpu=True), or thresholds=N where it has them; "
           "reset() after each epoch: its state '" +
           growth.keeper->name + "' keeps " + made;
  }
  if (growth.sites.front().is_enlarged)
    return made + " is made again each time, larger: allocate it once, or keep it on the host";
  const std::string where = growth.keeper ? " in '" + growth.keeper->name + "'" : "";
  // Of a run that completed nobody has looked for cycles.
  const bool may_be_cycles =
      !growth.keeper && growth.is_past && growth.kind == IterationKind::kLoop;
  return "do not keep " + made + where + ": " + usual +
         (may_be_cycles ? "; if no variable keeps it, reference cycles do until gc.collect()" : "");
}

class SavingFinder {
 public:
  explicit SavingFinder(const SavingFacts& facts) : facts_(facts) {}

  std::vector<Saving> Run() {
    FindOfTheCard();
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
  // What others have of it, and what only has to be waited for.
  void FindOfTheCard() {
    if (const uint64_t others = facts_.ledger.positive("other_processes"); others > 0) {
      Saving saving = SavingOf(Id::kNoOtherProcess, others, others);
      saving.how_known = "exact";
      if (std::string change = ChangeOfLaunch(); !change.empty()) saving.change = std::move(change);
      list_.Add(std::move(saving));
    }
    if (facts_.verdict.cause == Cause::kStreamWait) {
      const uint64_t waiting = facts_.ledger.positive("stream_wait");
      list_.Add(SavingOf(Id::kWaitForStreams, waiting, waiting));
    }
  }

  // What keeps this launch's own processes off the card, if most of what others hold is theirs.
  std::string ChangeOfLaunch() const {
    const uint64_t others = facts_.ledger.positive("other_processes");
    if (BytesOfLaunch(facts_.others, others) <= others / 2) return "";
    using Relation = OtherProcess::Relation;
    switch (GroupOthers(facts_.others).front().relation) {
      case Relation::kDataWorker:
      case Relation::kWorker:
        return "no CUDA in this program's workers: torch.cuda.set_device, .cuda() or a tensor on "
               "the card makes a context in each";
      case Relation::kRank:
        if (IsFullOfLoaded())
          return "torch.load(..., map_location=\"cpu\") in each rank: without it a file's tensors "
                 "go to the card that they were saved from";
        return "torch.cuda.set_device(LOCAL_RANK) in each rank before it uses a card";
      default:
        return "";
    }
  }

  // True if what this process holds is mostly what it loads.
  bool IsFullOfLoaded() const {
    const auto live = static_cast<uint64_t>(std::max<int64_t>(facts_.ledger.bytes("live"), 0));
    return IsLoading(facts_.request_stack) && facts_.BytesWhere(IsLoading) > live / 2;
  }

  void FindMeanResizing() {
    uint64_t bytes = IsMeanResizing(facts_.request_stack) ? facts_.request_bytes : 0;
    bytes += facts_.BytesWhere(IsMeanResizing);
    list_.Add(SavingOf(Id::kMeanResizing, bytes, 0));
  }

  // Recomputation is for a backward: where none runs, nothing has to be kept or computed again.
  void FindCheckpointing() {
    if (facts_.kept && facts_.kept->is_in_vain()) return;
    for (const RepeatedLayers& layers :
         FindRepeatedLayers(facts_.of_others, facts_.live, facts_.source)) {
      const uint64_t kept = layers.largest + layers.count * layers.boundary;
      const bool is_in_layers = layers.is_checkpointed &&
                                AnnotatedText(facts_.annotations, "checkpoint.whole_model").empty();
      if (layers.bytes <= kept || is_in_layers || layers.is_transformed) continue;
      const uint64_t to_come = OfLayersToCome(layers);
      list_.Add(SavingOf(Id::kCheckpointing, layers.bytes - kept + to_come, layers.bytes - kept),
                CheckpointingOf(layers, facts_.annotations));
    }
  }

  // What of these layers a pass had not come to, and would not keep.
  uint64_t OfLayersToCome(const RepeatedLayers& layers) const {
    const RestOfStep& rest = facts_.verdict.rest;
    if (rest.OfPass() == 0 || !rest.layers || rest.layers->name != layers.name) return 0;
    return rest.layers->WithoutBoundaries(layers.boundary);
  }

  // Only after an update: until then nobody has states. What torch.autograd.grad hands to the
  // program is used without an optimizer.
  void FindUnsteppedGradients() {
    if (AnnotatedText(facts_.annotations, "backward.returns_gradients") == "1") return;
    if (facts_.update.first_phase_run == 0 || !facts_.update.over) return;
    const UnsteppedGradients unstepped = FindUnstepped(facts_.captured, facts_.live, facts_.source);
    if (unstepped.bytes == 0) return;
    list_.Add(SavingOf(Id::kFreeze, unstepped.bytes, unstepped.bytes),
              "requires_grad_(False) of " + unstepped.name + ", whose gradients nobody uses");
  }

  // What graphs hold of deleted models; of the activations in them it is not known which they are.
  void FindDeletedModels() {
    if (!facts_.deleted) return;
    const Keeper& keeper = facts_.deleted->keeper;
    Saving saving = SavingOf(Id::kDoNotKeep, facts_.deleted->bytes, facts_.deleted->bytes);
    saving.change = ".detach() before " + TakerOf(keeper) +
                    " takes it, or torch.no_grad(): its graph keeps the parameters of deleted "
                    "models";
    list_.Add(std::move(saving));
  }

  // A model that was deleted is nobody's copy. If as much is trained, the two are to differ.
  void FindCopies() {
    if (facts_.deleted) return;
    for (const ModelCopy& copy : FindModelCopies(facts_.captured, facts_.live, facts_.source)) {
      if (IsUnread(copy) || IsCopyOfTrained(copy)) continue;
      list_.Add(SavingOf(Id::kNoSecondCopy, copy.bytes, copy.bytes),
                "share what " + copy.site + " copies and does not change");
    }
  }

  // Optimizers have as many parameters: the original changes, and the copy is to stay as it was, or
  // the other way round. Of a model that adapters train both stay.
  bool IsCopyOfTrained(const ModelCopy& copy) const {
    const std::string key = "optimizer.trained_bytes." + std::to_string(facts_.device);
    return AnnotatedNumber(facts_.annotations, key).value_or(0) >= copy.bytes;
  }

  // A name holds most of it that nothing reads again: it is the last one, and the next will be
  // made.
  bool IsUnread(const ModelCopy& copy) const {
    return std::any_of(facts_.unread.begin(), facts_.unread.end(), [&copy](const auto& value) {
      return value.made_at == copy.site && value.bytes >= copy.bytes / 2;
    });
  }

  // Most of what the site has gained are gradients that an update left: they have their own row.
  bool IsOfOldGradients(const GrowingSite& site) const {
    return std::any_of(list_.found().begin(), list_.found().end(), [&site](const Saving& saving) {
      return saving.name == remedies::RowOf(Id::kNoOldGradients).name &&
             saving.bytes >= site.gained / 2;
    });
  }

  // What grows is dead, and nothing of the program's keeps it.
  bool IsOfDeadCycles() const {
    return facts_.dead && facts_.dead->bytes >= facts_.growth.gained() / 10 * 9;
  }

  // Each pass lets its graph go; what grows within a step is their graphs.
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

  bool IsGrowthWithinStep() const {
    return !facts_.growth.sites.empty() && facts_.growth.kind != IterationKind::kStep;
  }

  // All that grows: with less of it the card is full later, not never.
  void FindKept() {
    if (facts_.growth.sites.empty() || IsOfDeadCycles()) return;
    if (facts_.summed && IsGrowthWithinStep()) return;
    if (facts_.GrowsBy(IsEvaluationResult)) return;  // the row for these ends it
    if (facts_.GrowsByCaptures()) return;            // likewise
    if (IsOfOldGradients(facts_.growth.sites.front())) return;
    const uint64_t gained = facts_.growth.gained();
    Saving saving = SavingOf(Id::kDoNotKeep, gained, gained);
    saving.change = WithoutKeeping(facts_.growth, saving.change);
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
