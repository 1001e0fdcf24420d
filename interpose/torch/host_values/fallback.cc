// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/fallback.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <torch/library.h>

#include <string>
#include <string_view>
#include <vector>

#include "interpose/torch/host_values/card_thread.h"
#include "interpose/torch/host_values/dispatch_keys.h"
#include "interpose/torch/host_values/operator_call.h"
#include "interpose/torch/host_values/operator_facts.h"
#include "interpose/torch/host_values/sleeping_tensors.h"
#include "interpose/torch/step_time/timed_call.h"

namespace memtrace::shim {
namespace {

using c10::DispatchKeySet;
using torch::jit::Stack;

struct Values {
  const CardContents& card;
  const HostValuesPolicy& policy;
  Answers& answers;
};
// Never destroyed, because operators run after every static destructor.
const Values* values = nullptr;

// True if work is captured in a graph and so does not run now.
bool IsCapturing() {
  return c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
}

struct CopySides {
  const at::Tensor& to;
  const at::Tensor& from;
};

// REQUIRES: facts.transport.
CopySides SidesOf(const OperatorFacts& facts, const Stack& stack) {
  const size_t first = stack.size() - facts.arguments.size();
  return {.to = stack[first].toTensor(), .from = stack[first + 1].toTensor()};
}

// True for a copy that the card does byte by byte: it then knows the target's contents better than
// we do.
bool IsByteCopyOnCard(const OperatorFacts& facts, const Stack& stack) {
  if (!facts.transport) return false;
  const auto [to, from] = SidesOf(facts, stack);
  return to.is_contiguous() && from.is_contiguous() && to.scalar_type() == from.scalar_type() &&
         to.sizes() == from.sizes();
}

// True if nothing becomes known or unknown: x[1:3] += 1 ends with a copy of the slice to itself.
bool IsCopyToItself(const OperatorFacts& facts, const Stack& stack) {
  if (!facts.transport) return false;
  const auto [to, from] = SidesOf(facts, stack);
  return to.is_alias_of(from) && to.storage_offset() == from.storage_offset() &&
         to.sizes() == from.sizes() && to.strides() == from.strides() &&
         to.scalar_type() == from.scalar_type();
}

bool WillBeCalledAgain(DispatchKeySet below) {
  // A Python mode gets the operator next and calls it again, and we see it then.
  return below.has(c10::DispatchKey::Python);
}

void CallOperator(const c10::OperatorHandle& op, const OperatorFacts& facts, bool open,
                  DispatchKeySet below, Stack* stack) {
  if (open) {
    const InsideScope answers(facts);
    op.redispatchBoxed(below, stack);
  } else {
    const c10::impl::ExcludeDispatchKeyGuard unseen(kLeafKey);
    op.redispatchBoxed(below, stack);
  }
}

// True if the rule states a result for this call: a value, or a choice among so many.
bool StatesResult(const OperatorRule& rule, const OperatorCall& call) {
  if (rule.result) return true;
  const at::Tensor& scores = call.first_input();
  if (!rule.StatesChoice() || !scores.defined() || scores.dim() == 0) return false;
  return rule.most_choices == 0 || scores.size(-1) <= rule.most_choices;
}

void Settle(const c10::OperatorHandle& op, const OperatorFacts& facts, OperatorCall& call,
            bool computed, bool card_wrote, Stack& stack) {
  if (computed ||
      (call.has_inputs() && !IsCapturing() && call.ResultsFitLimit(stack) && call.Compute(op))) {
    call.WriteResults(stack);
  } else if (call.makes_zeros() && !IsCapturing()) {
    call.WriteZeros();
  } else if (StatesResult(*facts.rule, call) && !IsCapturing()) {
    call.ForgetResults(stack, true);
    call.FillResults(stack, values->answers.Choose(*facts.rule));
  } else {
    call.ForgetResults(stack, card_wrote || facts.open);
  }
}

void RunOnCard(const c10::OperatorHandle& op, const OperatorFacts& facts, OperatorCall& call,
               DispatchKeySet below, Stack* stack) {
  memtrace_card_thread_state& thread = values->card.thread();
  const bool changes_nothing = IsCopyToItself(facts, *stack);
  const bool by_card = changes_nothing || IsByteCopyOnCard(facts, *stack);
  if (facts.transport && !changes_nothing) call.ForgetWrittenTensors();
  bool computed = false;
  if (!by_card && call.known() != Known::kUnknown && facts.IsWorthTrying() &&
      call.WrittenFitsLimit()) {
    call.TakeInputs();
    // The count decides how much the operator allocates, so the values are computed before it runs.
    if (facts.rule->count) computed = call.Compute(op);
  }
  const ReadWatch watch(thread);
  const uint64_t writes = thread.writes;
  {
    const bool by_byte = by_card && call.known() == Known::kUnknown;
    const OperatorScope scope(thread,
                              by_byte ? MEMTRACE_CARD_BY_BYTE : static_cast<int32_t>(call.known()));
    values->answers.GiveCount(facts, call, computed);
    // If the answer of `equal` is computed, its inner reads do not matter.
    const bool open = facts.open && !(facts.gives_number && call.has_inputs());
    CallOperator(op, facts, open, below, stack);
  }
  // The target of a copy_ was forgotten before the copy, so the card's own knowledge of the copy
  // stands.
  if (!facts.transport || call.has_inputs()) {
    Settle(op, facts, call, computed, thread.writes != writes, *stack);
  }
  values->answers.NoteReads(facts, call, watch, *stack);
}

// Some composites (convolution_backward) launch kernels themselves, into fresh memory.
void RunTransparent(const c10::OperatorHandle& op, const OperatorFacts& facts, DispatchKeySet below,
                    Stack* stack) {
  const InsideScope answers(facts);
  if (facts.view) {
    op.redispatchBoxed(below, stack);
    return;
  }
  const OperatorScope scope(values->card.thread(), MEMTRACE_CARD_UNKNOWN);
  op.redispatchBoxed(below, stack);
}

void RunLeaf(const c10::OperatorHandle& op, const OperatorFacts& facts, DispatchKeySet below,
             Stack* stack) {
  if (facts.transparent || WillBeCalledAgain(below)) {
    RunTransparent(op, facts, below, stack);
    return;
  }
  OperatorCall call(facts, values->card, values->policy, *stack);
  if (call.concerns_card()) {
    RunOnCard(op, facts, call, below, stack);
  } else {
    op.redispatchBoxed(below, stack);
  }
}

void Leaf(const c10::OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const auto below = keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, kLeafKey);
  const OperatorFacts& facts = FactsOf(op, values->policy);
  CheckAwake(facts, *stack);
  TimedCall timed(op, facts, *stack);
  RunLeaf(op, facts, below, stack);
  timed.End(*stack);
}

// Reads one value as every other operator is run, but calls it unboxed. Up to 2.7, torch cannot box
// a number above 2^63: such a value travels as the signed number with the same bits. A Python mode
// gets the program's own tensor, because the mode may show it.
at::Scalar ReadOneValue(DispatchKeySet keys, const at::Tensor& tensor) {
  static const c10::OperatorHandle kReadScalar =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::_local_scalar_dense", "");
  const auto below = keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, kLeafKey);
  const bool is_unsigned = tensor.scalar_type() == at::kUInt64 && !WillBeCalledAgain(below);
  Stack stack = {is_unsigned ? tensor.view(at::kLong) : tensor};
  Leaf(kReadScalar, keys, &stack);
  const at::Scalar value = stack.back().toScalar();
  return is_unsigned ? at::Scalar(static_cast<uint64_t>(value.toLong())) : value;
}

// Runs a composite operator with a rule: its parts are seen at the leaves, its meaning only here.
void Composite(const c10::OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const auto below = keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, kCompositeKey);
  const OperatorFacts& facts = FactsOf(op, values->policy);
  const OperatorCall call(facts, values->card, values->policy, *stack);
  const bool is_unknown = call.concerns_card() && call.known() == Known::kUnknown;
  {
    const InsideScope answers(facts);
    op.redispatchBoxed(below, stack);
  }
  if (is_unknown && StatesResult(*facts.rule, call) && !IsCapturing())
    call.FillResults(*stack, values->answers.Choose(*facts.rule));
}

bool IsComposite(const std::string& name) {
  const size_t dot = name.find('.', name.find("::"));
  const c10::OperatorName operator_name(name.substr(0, dot),
                                        dot == std::string::npos ? "" : name.substr(dot + 1));
  const auto op = c10::Dispatcher::singleton().findSchema(operator_name);
  return op && !op->hasKernelForDispatchKey(c10::DispatchKey::CUDA);
}

}  // namespace

bool IsDispatchKeyTaken() {
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  return dispatcher.hasBackendFallbackForDispatchKey(kLeafKey) ||
         dispatcher.hasBackendFallbackForDispatchKey(kCompositeKey);
}

void RegisterFallback(const CardContents& card, const HostValuesPolicy& policy, Answers& answers) {
  values = new Values{.card = card, .policy = policy, .answers = answers};
  static auto* registrations = new std::vector<torch::Library>;
  registrations->reserve(4);
  const auto library = [](const char* name, c10::DispatchKey key) -> torch::Library& {
    return registrations->emplace_back(torch::Library::IMPL, name, key, __FILE__, __LINE__);
  };
  library("_", kLeafKey).fallback(torch::CppFunction::makeFromBoxedFunction<&Leaf>());
  library("aten", kLeafKey).impl("_local_scalar_dense", TORCH_FN(ReadOneValue));
  library("_", kCompositeKey).fallback(torch::CppFunction::makeFallthrough());
  torch::Library& aten = library("aten", kCompositeKey);
  constexpr std::string_view kAten = "aten::";
  for (const std::string& name : policy.OperatorNames()) {
    if (name.compare(0, kAten.size(), kAten) == 0 && IsComposite(name)) {
      aten.impl(name.substr(kAten.size()).c_str(),
                torch::CppFunction::makeFromBoxedFunction<&Composite>());
    }
  }
}

void EnterFallback() {
  c10::impl::tls_set_dispatch_key_included(kLeafKey, true);
  c10::impl::tls_set_dispatch_key_included(kCompositeKey, true);
}

}  // namespace memtrace::shim
