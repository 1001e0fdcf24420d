// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/savings.h"

#include <algorithm>
#include <functional>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/block_parts.h"
#include "tools/analysis/block_savings.h"
#include "tools/analysis/call_savings.h"
#include "tools/analysis/frame_rules.h"
#include "tools/analysis/model_copies.h"
#include "tools/analysis/movable_owners.h"
#include "tools/analysis/optimizer_savings.h"
#include "tools/analysis/repeated_layers.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;
using trace::Role;

std::string CheckpointingOf(const RepeatedLayers& layers, const Annotations& annotations) {
  if (AnnotatedNumber(annotations, "checkpoint.in_eval") == 1)
    return "model.train(): checkpointing is on and does nothing in eval mode";
  return layers.is_of_transformers
             ? "checkpoint " + layers.name + ": model.gradient_checkpointing_enable()"
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
  if (growth.keeper && growth.keeper->kind != Keeper::Kind::kElements) {
    return ".detach() or .item() before " + TakerOf(*growth.keeper) +
           " takes it, or torch.no_grad(): its graph keeps " + made;
  }
  if (growth.sites.front().is_enlarged)
    return made + " is made again each time, larger: allocate it once, or keep it on the host";
  const std::string where = growth.keeper ? " in '" + growth.keeper->name + "'" : "";
  return "do not keep " + made + where + ": " + usual;
}

class SavingFinder {
 public:
  explicit SavingFinder(const SavingFacts& facts) : facts_(facts) {}

  std::vector<Saving> Run() {
    FindOfTheCard();
    FindMeanResizing();
    FindCheckpointing();
    FindMicroBatch();
    FindUnsteppedGradients();
    FindCopies();
    FindOwners();
    for (const auto& find : {FindOptimizerSavings, FindBlockSavings, FindCallSavings})
      for (Saving& saving : find(facts_)) Add(std::move(saving));
    FindKept();
    std::erase_if(found_, [this](const Saving& saving) {
      if (saving.bytes == 0) return true;
      return saving.bytes < facts_.held.bytes / 100 && !saving.is_small_and_matters;
    });
    return std::move(found_);
  }

 private:
  void Add(Saving saving) { found_.push_back(std::move(saving)); }
  void Add(Saving saving, std::string change) {
    saving.change = std::move(change);
    Add(std::move(saving));
  }
  uint64_t Held(Role role) const { return BytesOfRole(facts_.held, role); }
  // What others have of it, and what only has to be waited for.
  void FindOfTheCard() {
    if (const uint64_t others = facts_.ledger.positive("other_processes"); others > 0) {
      Saving saving = SavingOf(Id::kNoOtherProcess, others, others);
      saving.how_known = "exact";
      Add(std::move(saving));
    }
    if (facts_.verdict.cause == Cause::kStreamWait) {
      const uint64_t waiting = facts_.ledger.positive("stream_wait");
      Add(SavingOf(Id::kWaitForStreams, waiting, waiting));
    }
  }

  void FindMeanResizing() {
    uint64_t bytes = IsMeanResizing(facts_.request_stack) ? facts_.request_bytes : 0;
    bytes += BytesWhere(facts_, IsMeanResizing);
    Add(SavingOf(Id::kMeanResizing, bytes, 0));
  }

  void FindCheckpointing() {
    for (const RepeatedLayers& layers :
         FindRepeatedLayers(facts_.captured, facts_.live, facts_.source)) {
      const uint64_t kept = layers.largest + layers.count * layers.boundary;
      const bool is_in_layers = layers.is_checkpointed &&
                                AnnotatedText(facts_.annotations, "checkpoint.whole_model").empty();
      if (layers.bytes <= kept || is_in_layers) continue;
      Add(SavingOf(Id::kCheckpointing, layers.bytes - kept, layers.bytes - kept),
          CheckpointingOf(layers, facts_.annotations));
    }
  }

  // Activations of the step that runs: what earlier ones left behind does not depend on the batch.
  uint64_t ActivationsOfStep() const {
    uint64_t bytes = 0;
    for (const CapturedBlock& entry : facts_.captured) {
      const Block& block = facts_.live.block(entry.id);
      if (entry.waiting || block.birth.step < facts_.moment.step) continue;
      for (const Part& part : PartsOf(block, facts_.live.Labels(entry.id), facts_.live.position(),
                                      facts_.source.best_evidence())) {
        if (part.identity.role == Role::kActivation) bytes += part.bytes;
      }
    }
    return bytes;
  }

  void FindMicroBatch() {
    if (facts_.kept && facts_.kept->is_in_vain()) return;
    const uint64_t half = ActivationsOfStep() / 2;
    if (AnnotatedNumber(facts_.annotations, "forward.batch") == 1) {
      const bool is_sequence =
          AnnotatedNumber(facts_.annotations, "forward.sequence").value_or(0) > 1;
      if (is_sequence) Add(SavingOf(Id::kHalfSequence, half, half));
      return;
    }
    const bool is_training = Held(Role::kGradient) + Held(Role::kOptimizerState) > 0;
    Add(SavingOf(is_training ? Id::kHalfMicroBatch : Id::kHalfBatch, half, half));
  }

  // Only after an update: until then nobody has states.
  void FindUnsteppedGradients() {
    if (facts_.update.first_phase_run == 0 || !facts_.update.over) return;
    const UnsteppedGradients unstepped = FindUnstepped(facts_.captured, facts_.live, facts_.source);
    if (unstepped.bytes == 0) return;
    Add(SavingOf(Id::kFreeze, unstepped.bytes, unstepped.bytes),
        "requires_grad_(False) of " + unstepped.name + ", whose gradients nobody uses");
  }

  void FindCopies() {
    for (const ModelCopy& copy : FindModelCopies(facts_.captured, facts_.live, facts_.source)) {
      Add(SavingOf(Id::kNoSecondCopy, copy.bytes, copy.bytes),
          "share what " + copy.site + " copies and does not change");
    }
  }

  // Most of what the site has gained are gradients that an update left: they have their own row.
  bool IsOfOldGradients(const GrowingSite& site) const {
    return std::any_of(found_.begin(), found_.end(), [&site](const Saving& saving) {
      return saving.name == remedies::RowOf(Id::kNoOldGradients).name &&
             saving.bytes >= site.gained / 2;
    });
  }

  // All that grows: with less of it the card is full later, not never.
  void FindKept() {
    if (facts_.growth.sites.empty()) return;
    if (IsOfOldGradients(facts_.growth.sites.front())) return;
    const uint64_t gained = facts_.growth.gained();
    Saving saving = SavingOf(Id::kDoNotKeep, gained, gained);
    saving.change = WithoutKeeping(facts_.growth, saving.change);
    saving.ends_growth = true;
    Add(std::move(saving));
  }

  void FindOwners() {
    for (const MovableOwner& owner :
         FindMovableOwners(facts_.captured, facts_.live, facts_.source)) {
      if (owner.is_in_use) {
        Add({owner.name + " on another card", owner.bytes, owner.bytes, "estimated", Effort::kLines,
             "its inputs and outputs go from card to card",
             ".to('cuda:1') of " + owner.name + ", of which nothing is trained",
             remedies::RowOf(Id::kSecondCard).hook});
      } else {
        Add({owner.name + " elsewhere", owner.bytes, owner.bytes, "estimated", Effort::kLines,
             "it is copied back for each use, or runs on another card",
             ".to('cpu') of " + owner.name + " while it is idle, or .to('cuda:1')",
             remedies::RowOf(Id::kHostModels).hook});
      }
    }
  }

  const SavingFacts& facts_;
  std::vector<Saving> found_;
};

}  // namespace

uint64_t BytesWhere(const SavingFacts& facts,
                    const std::function<bool(const std::vector<trace::Frame>&)>& is_such) {
  absl::flat_hash_map<trace::StackId, bool> known;
  uint64_t bytes = 0;
  for (const CapturedBlock& entry : facts.captured) {
    const trace::Allocate& allocation = facts.live.block(entry.id).allocation;
    if (entry.waiting) continue;
    const auto [stack, is_new] = known.try_emplace(allocation.stack, false);
    if (is_new) stack->second = is_such(facts.source.Stack(allocation.stack));
    if (stack->second) bytes += allocation.requested;
  }
  return bytes;
}

Saving SavingOf(remedies::Id id, uint64_t bytes, uint64_t bytes_later) {
  const remedies::Row& row = remedies::RowOf(id);
  return {.name = std::string(row.name),
          .bytes = bytes,
          .bytes_later = bytes_later,
          .how_known = "estimated",
          .effort = row.effort,
          .cost = std::string(row.cost),
          .change = std::string(row.change),
          .hook = row.hook};
}

std::vector<Saving> FindSavings(const SavingFacts& facts) { return SavingFinder(facts).Run(); }

}  // namespace memtrace::analysis
