// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/optimizer_savings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;
using trace::Phase;
using trace::Role;

// torch/optim/adam.py, _single_tensor_adam: the root of the second state, its quotient and the sum
// with eps exist at once, each of the size of the parameter that is stepped.
constexpr uint64_t kTemporariesOfLoop = 3;

// A LoRA of rank 16 trains 0.3 to 2 percent of the model's parameters.
constexpr uint64_t kPercentOfAdapters = 2;

// True if torch has a fused update, whose kernels read the states in place, without a copy.
bool HasFusedUpdate(std::string_view optimizer) {
  return optimizer == "Adam" || optimizer == "AdamW" || optimizer == "SGD" ||
         optimizer == "Adagrad";
}

class OptimizerSavingFinder {
 public:
  explicit OptimizerSavingFinder(const SavingFacts& facts)
      : facts_(facts), rest_(facts.verdict.rest), optimizer_(Class()), elements_(Elements()) {
    const bool is_counted =
        rest_.source == NeedSource::kOptimizer || rest_.source == NeedSource::kForeachCopy;
    if (is_counted) to_come_ = rest_.optimizer;
  }

  std::vector<Saving> Run() {
    LookAtParameters();
    FindCopy();
    FindEightBits();
    FindBfloat16();
    FindLora();
    return list_.Take();
  }

 private:
  // Until an optimizer steps, its class is known only if all optimizers are of one class.
  std::string Class() const {
    const std::string stepped = AnnotatedText(facts_.annotations, fact::kOptimizerClass);
    return stepped.empty() ? AnnotatedText(facts_.annotations, fact::kOptimizerClassOfAll)
                           : stepped;
  }

  std::optional<uint64_t> OfCard(const fact::NumberedKey& key) const {
    return AnnotatedNumber(facts_.annotations, key.Of(facts_.device));
  }

  uint64_t Elements() const {
    const auto stepped = AnnotatedNumber(facts_.annotations, fact::kOptimizerElements);
    return stepped ? *stepped : OfCard(fact::kOptimizerTrainedElements).value_or(0);
  }

  // Bytes of all states, including those to come; 0 if not known.
  uint64_t States() const {
    const auto stepped = AnnotatedNumber(facts_.annotations, fact::kOptimizerStateBytes);
    return stepped ? *stepped : OfCard(fact::kOptimizerStatesToMake).value_or(0);
  }

  bool is_adam() const { return optimizer_ == "Adam" || optimizer_ == "AdamW"; }

  // Bytes that would not be needed if only `then` were to come.
  uint64_t LessToCome(const OptimizerNeed& then) const {
    if (to_come_.bytes() == 0) return 0;
    return Less(rest_.RiseWith(to_come_), rest_.RiseWith(then));
  }

  // Returns the bytes of a foreach update's copy that exist; all of it if an update failed and the
  // rest is no part of what is to come.
  uint64_t CopyInUse() const {
    if (facts_.copy) return to_come_.copy > 0 ? facts_.copy->made_bytes : facts_.copy->copy_bytes;
    const uint64_t whole =
        AnnotatedNumber(facts_.annotations, fact::kOptimizerCopyBytes).value_or(0);
    return whole == 0 ? 0 : std::min(whole, facts_.BytesWhere(IsForeachUpdate));
  }

  void LookAtParameters() {
    facts_.ForEachPart(Evidence::kStated, [this](const Block&, const Part& part) {
      if (part.identity.role != Role::kParameter) return;
      parameters_ += part.bytes;
      largest_ = std::max(largest_, part.bytes);
      has_adapters_ |=
          facts_.source.String(part.identity.path).find(".lora_") != std::string_view::npos;
    });
  }

  // Bytes of the copy, in use or to come, that are saved without it.
  uint64_t Copy() const {
    OptimizerNeed without = to_come_;
    without.copy = 0;
    return CopyInUse() + LessToCome(without);
  }

  void FindCopy() {
    const uint64_t copy = Copy();
    if (copy == 0) return;
    if (HasFusedUpdate(optimizer_)) {
      list_.Add(SavingOf(Id::kFused, copy, 0), optimizer_ + "(..., fused=True)");
    }
    if (largest_ == 0) return;
    list_.Add(SavingOf(Id::kLoop, Less(copy, kTemporariesOfLoop * largest_), 0),
              optimizer_.empty() ? Message("foreach=False for the optimizer")
                                 : optimizer_ + "(..., foreach=False)");
  }

  // bitsandbytes' AdamW8bit makes no copy, and does not step parameters that FSDP2 shards
  // (DTensor).
  void FindEightBits() {
    if (AnnotatedText(facts_.annotations, fact::kOptimizerSharded) == "1") return;
    constexpr uint64_t kBlock = 256;  // bitsandbytes scales so many values together, by a float
    const uint64_t in_8_bits = 2 * (elements_ + elements_ / kBlock * 4);
    const uint64_t states = States();
    if (!is_adam() || elements_ == 0 || states <= in_8_bits) return;
    const double share = static_cast<double>(in_8_bits) / static_cast<double>(states);
    const auto reduced = [share](uint64_t bytes) {
      return static_cast<uint64_t>(static_cast<double>(bytes) * share);
    };
    OptimizerNeed then = to_come_;
    then.states = reduced(then.states);
    then.copy = 0;
    const uint64_t now = facts_.Held(Role::kOptimizerState);
    const uint64_t all = now + to_come_.states;
    list_.Add(SavingOf(Id::kEightBits, now - reduced(now) + CopyInUse() + LessToCome(then),
                       all - reduced(all)),
              "bitsandbytes.optim." + optimizer_ + "8bit(...)");
  }

  void FindBfloat16() {
    if (elements_ == 0 || States() != elements_ * 8) return;  // states are not in fp32
    if (elements_ * 4 < parameters_ / 4) return;  // adapters: the model has a type of its own
    const uint64_t halves =
        elements_ * 2 + facts_.Held(Role::kGradient) / 2 + facts_.Held(Role::kOptimizerState) / 2;
    OptimizerNeed then = to_come_;
    then.gradients /= 2;
    then.states /= 2;
    then.copy /= 2;
    const uint64_t in_use = halves + CopyInUse() / 2 + HalfOfPass();
    list_.Add(SavingOf(Id::kBfloat16, in_use + LessToCome(then), halves + to_come_.states / 2),
              Message("model.to(torch.bfloat16) before the optimizer is made"));
  }

  // Activations follow the type of the parameters, except those that autocast casts.
  uint64_t HalfOfPass() const {
    const Phase phase = facts_.moment.phase;
    if (phase == Phase::kEvaluate || phase == Phase::kGenerate)
      return 0;  // it may be of another model
    if (AnnotatedText(facts_.annotations, fact::kForwardAutocast) == "1") return 0;
    if (IsWithinAutocast(facts_.request_stack) || facts_.BytesWhere(IsWithinAutocast) > 0) return 0;
    const uint64_t computed = facts_.Held(Role::kActivation) + facts_.Held(Role::kTemporary);
    return (computed + rest_.OfPass()) / 2;
  }

  // Finds a model of transformers, most of which is trained.
  void FindLora() {
    const uint64_t trained = facts_.TrainedBytes();
    if (trained == 0 || trained < parameters_ / 4 || has_adapters_) return;
    if (facts_.BytesWhere(IsWithinTransformers) == 0 && !IsWithinTransformers(facts_.request_stack))
      return;
    uint64_t now = facts_.Held(Role::kOptimizerState);
    // A rest that is foreseen from the previous step includes making the gradients.
    now += rest_.source == NeedSource::kPreviousStep ? trained : facts_.Held(Role::kGradient);
    // Frozen layers keep less of what a pass computes; how much less is not known.
    const uint64_t all = now + CopyInUse() + LessToCome({}) + rest_.OfPass();
    const uint64_t adapters = trained / 100 * kPercentOfAdapters * 5;  // and their training
    Saving saving = SavingOf(Id::kLora, Less(all, adapters), Less(now + to_come_.states, adapters));
    saving.at_least = rest_.OfPass() > 0;
    list_.Add(std::move(saving));
  }

  const SavingFacts& facts_;
  const RestOfStep& rest_;
  OptimizerNeed to_come_;  // as far as the need counts it
  std::string optimizer_;
  uint64_t elements_ = 0;
  uint64_t parameters_ = 0;  // bytes whose path is stated
  uint64_t largest_ = 0;     // of them
  bool has_adapters_ = false;
  SavingList list_;
};

}  // namespace

std::vector<Saving> FindOptimizerSavings(const SavingFacts& facts) {
  return OptimizerSavingFinder(facts).Run();
}

}  // namespace memtrace::analysis
