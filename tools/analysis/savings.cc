// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/savings.h"

#include <algorithm>
#include <functional>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/block_parts.h"
#include "tools/analysis/block_savings.h"
#include "tools/analysis/frame_rules.h"
#include "tools/analysis/model_copies.h"
#include "tools/analysis/movable_owners.h"
#include "tools/analysis/repeated_layers.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;
using trace::Role;

// Kernels that read the states in place: no copy of them.
bool HasFusedUpdate(std::string_view optimizer) {
  return optimizer == "Adam" || optimizer == "AdamW" || optimizer == "SGD" ||
         optimizer == "Adagrad";
}

// torch/optim/adam.py, _single_tensor_adam: the root of the second state, its quotient and the sum
// with eps are there at once, each the size of the parameter that is stepped.
constexpr uint64_t kTemporariesOfLoop = 3;

std::string CheckpointingOf(const RepeatedLayers& layers) {
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

// What the optimizer hook announced of a class that keeps two states the size of the parameters.
struct StepFacts {
  std::string optimizer;
  uint64_t elements = 0;  // stepped parameters
  uint64_t state_bytes = 0;
};

std::optional<StepFacts> StepFactsOf(const Annotations& annotations) {
  const auto elements = AnnotatedNumber(annotations, "optimizer.elements");
  const auto states = AnnotatedNumber(annotations, "optimizer.state_bytes");
  if (elements.value_or(0) == 0 || states.value_or(0) == 0) return std::nullopt;
  return StepFacts{AnnotatedText(annotations, "optimizer.class"), *elements, *states};
}

class SavingFinder {
 public:
  explicit SavingFinder(const SavingFacts& facts) : facts_(facts) {}

  std::vector<Saving> Run() {
    FindOfTheCard();
    FindForeachCopy();
    FindMeanResizing();
    FindCheckpointing();
    FindMicroBatch();
    FindUnsteppedGradients();
    FindCopies();
    FindOwners();
    FindOptimizers();
    FindKept();
    for (Saving& saving : FindBlockSavings(facts_)) Add(std::move(saving));
    std::erase_if(found_, [this](const Saving& saving) {
      return saving.bytes == 0 || saving.bytes < facts_.held.bytes / 100;
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
  // Bytes in use whose stack is such a one.
  uint64_t BytesWhere(const std::function<bool(const std::vector<trace::Frame>&)>& is_such) const {
    absl::flat_hash_map<trace::StackId, bool> known;
    uint64_t bytes = 0;
    for (const CapturedBlock& entry : facts_.captured) {
      const trace::Allocate& allocation = facts_.live.block(entry.id).allocation;
      if (entry.waiting) continue;
      const auto [stack, is_new] = known.try_emplace(allocation.stack, false);
      if (is_new) stack->second = is_such(facts_.source.Stack(allocation.stack));
      if (stack->second) bytes += allocation.requested;
    }
    return bytes;
  }

  // Of the copy that a foreach update makes: all of it where it failed, what of it was there
  // elsewhere.
  uint64_t copy_bytes() const {
    if (facts_.copy) return facts_.copy->copy_bytes;
    const uint64_t whole = AnnotatedNumber(facts_.annotations, "optimizer.copy_bytes").value_or(0);
    const uint64_t made = whole == 0 ? 0 : BytesWhere(IsForeachUpdate);
    return std::min(made, whole);
  }

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

  void FindForeachCopy() {
    const std::string optimizer = AnnotatedText(facts_.annotations, "optimizer.class");
    const uint64_t copy = copy_bytes();
    if (HasFusedUpdate(optimizer)) {
      Add(SavingOf(Id::kFused, copy, 0), optimizer + "(..., fused=True)");
    }
    const uint64_t largest = LargestParameter();
    if (largest == 0) return;
    Add(SavingOf(Id::kLoop, copy - std::min(copy, kTemporariesOfLoop * largest), 0),
        (optimizer.empty() ? "the optimizer" : optimizer) + "(..., foreach=False)");
  }

  // Bytes of the largest parameter whose path a hook stated; 0 if none did.
  uint64_t LargestParameter() const {
    uint64_t largest = 0;
    for (const CapturedBlock& entry : facts_.captured) {
      if (entry.waiting) continue;
      const Block& block = facts_.live.block(entry.id);
      for (const Part& part : PartsOf(block, facts_.live.Labels(entry.id), facts_.live.position(),
                                      Evidence::kStated)) {
        if (part.identity.role == Role::kParameter) largest = std::max(largest, part.bytes);
      }
    }
    return largest;
  }

  void FindMeanResizing() {
    uint64_t bytes = IsMeanResizing(facts_.request_stack) ? facts_.request_bytes : 0;
    bytes += BytesWhere(IsMeanResizing);
    Add(SavingOf(Id::kMeanResizing, bytes, 0));
  }

  void FindCheckpointing() {
    for (const RepeatedLayers& layers :
         FindRepeatedLayers(facts_.captured, facts_.live, facts_.source)) {
      const uint64_t kept = layers.largest + layers.count * layers.boundary;
      if (layers.bytes <= kept || layers.is_checkpointed) continue;
      Add(SavingOf(Id::kCheckpointing, layers.bytes - kept, layers.bytes - kept),
          CheckpointingOf(layers));
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
    if (AnnotatedNumber(facts_.annotations, "forward.batch") == 1) return;
    if (facts_.kept && facts_.kept->is_in_vain()) return;
    const uint64_t half = ActivationsOfStep() / 2;
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

  // All that grows: with less of it the card is full later, not never.
  void FindKept() {
    if (facts_.growth.sites.empty()) return;
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
             ".to('cuda:1') of " + owner.name + ", of which nothing is trained"});
      } else {
        Add({owner.name + " elsewhere", owner.bytes, owner.bytes, "estimated", Effort::kLines,
             "it is copied back for each use, or runs on another card",
             ".to('cpu') of " + owner.name + " while it is idle, or .to('cuda:1')"});
      }
    }
  }

  // Bytes that the states of the moment would not take if all states took `bytes`.
  uint64_t LessOfStates(const StepFacts& step, uint64_t bytes) const {
    if (bytes >= step.state_bytes) return 0;
    const double share = static_cast<double>(bytes) / static_cast<double>(step.state_bytes);
    const uint64_t now = Held(Role::kOptimizerState);
    return now - static_cast<uint64_t>(static_cast<double>(now) * share);
  }

  void FindOptimizers() {
    const auto step = StepFactsOf(facts_.annotations);
    if (!step) return;
    constexpr uint64_t kBlock = 256;  // bitsandbytes scales so many values together, by a float
    const uint64_t in_8_bits = 2 * (step->elements + step->elements / kBlock * 4);
    const uint64_t states = LessOfStates(*step, in_8_bits);
    if (states > 0 && (step->optimizer == "Adam" || step->optimizer == "AdamW")) {
      Add(SavingOf(Id::kEightBits, states + copy_bytes(), states),
          "bitsandbytes.optim." + step->optimizer + "8bit(...)");
    }
    if (step->state_bytes != step->elements * 8) return;  // not in fp32
    const uint64_t halves =
        step->elements * 2 + Held(Role::kGradient) / 2 + Held(Role::kOptimizerState) / 2;
    Add(SavingOf(Id::kBfloat16, halves + copy_bytes() / 2, halves),
        "model.to(torch.bfloat16) before the optimizer is made");
  }

  const SavingFacts& facts_;
  std::vector<Saving> found_;
};

}  // namespace

Saving SavingOf(remedies::Id id, uint64_t bytes, uint64_t bytes_later) {
  const remedies::Row& row = remedies::RowOf(id);
  return {.name = std::string(row.name),
          .bytes = bytes,
          .bytes_later = bytes_later,
          .how_known = "estimated",
          .effort = row.effort,
          .cost = std::string(row.cost),
          .change = std::string(row.change)};
}

std::vector<Saving> FindSavings(const SavingFacts& facts) { return SavingFinder(facts).Run(); }

}  // namespace memtrace::analysis
