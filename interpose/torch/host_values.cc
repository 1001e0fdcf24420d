// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <torch/library.h>

#include <cstring>
#include <optional>

#include "interpose/core/memtrace.h"
#include "interpose/torch/host_values_call.h"
#include "interpose/torch/host_values_keys.h"
#include "interpose/torch/host_values_reads.h"

namespace memtrace::shim {
namespace {

using c10::DispatchKeySet;
using torch::jit::Stack;

// Made at start, never destroyed: operators run after every static destructor.
struct HostValues {
  const CardContents& card;
  HostValuesPolicy policy;
  HostReads reads{policy};
  std::vector<torch::Library> registrations;
};
HostValues* host_values = nullptr;

// The reads inside an operator that have an answer of their own, and how many were answered.
struct InsideAnswers {
  const OperatorFacts* facts;
  size_t next = 0;
};
thread_local InsideAnswers* inside = nullptr;

class InsideScope {
 public:
  explicit InsideScope(const OperatorFacts& facts) : answers_{&facts}, outer_(inside) {
    if (!facts.rule->inside.empty()) inside = &answers_;
  }
  ~InsideScope() { inside = outer_; }
  InsideScope(const InsideScope&) = delete;
  InsideScope& operator=(const InsideScope&) = delete;

 private:
  InsideAnswers answers_;
  InsideAnswers* outer_;
};

// While it lives, the card takes this thread's launches as ours to account for.
class OperatorScope {
 public:
  OperatorScope(memtrace_card_thread_state& thread, Known delivers)
      : thread_(thread), outer_delivers_(thread.delivers) {
    ++thread_.operators;
    thread_.delivers = static_cast<int32_t>(delivers);
  }
  ~OperatorScope() {
    --thread_.operators;
    thread_.delivers = outer_delivers_;
    thread_.answer_bytes = 0;
  }
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

 private:
  memtrace_card_thread_state& thread_;
  int32_t outer_delivers_;
};

// Whether an operator copied something to the host itself, by what was known of it. An operator
// inside it that already said so is not counted again.
class ReadWatch {
 public:
  explicit ReadWatch(const memtrace_card_thread_state& thread)
      : thread_(thread), before_(Unsaid()) {}

  std::optional<Known> Seen() const {
    const Counts now = Unsaid();
    for (size_t known = 0; known < now.size(); ++known) {
      if (now[known] > before_[known]) return static_cast<Known>(known);
    }
    return std::nullopt;
  }

  // All of them are accounted for by the caller.
  void Say() const {
    const Counts now = Unsaid();
    for (size_t known = 0; known < now.size(); ++known) said_[known] += now[known] - before_[known];
  }

 private:
  using Counts = std::array<uint64_t, 3>;

  Counts Unsaid() const {
    Counts counts;
    for (size_t known = 0; known < counts.size(); ++known) {
      counts[known] = thread_.reads[known] - said_[known];
    }
    return counts;
  }

  static thread_local Counts said_;
  const memtrace_card_thread_state& thread_;
  Counts before_;
};
thread_local ReadWatch::Counts ReadWatch::said_ = {};

std::string NumberText(double value, const at::Tensor& like) {
  if (like.scalar_type() == at::kBool) return value != 0 ? "true" : "false";
  if (c10::isIntegralType(like.scalar_type(), false)) {
    return std::to_string(static_cast<int64_t>(value));
  }
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  return text.back() == '.' ? text + "0" : text;
}

c10::IValue NumberLike(double value, const at::Tensor& like) {
  if (like.scalar_type() == at::kBool) return at::Scalar(value != 0);
  if (c10::isIntegralType(like.scalar_type(), false)) {
    return at::Scalar(static_cast<int64_t>(value));
  }
  if (c10::isComplexType(like.scalar_type())) return at::Scalar(c10::complex<double>(value));
  return at::Scalar(value);
}

double AnswerFor(const ReadAnswer& answer, const at::Tensor& read) {
  if (read.scalar_type() == at::kBool) return answer.condition;
  return c10::isIntegralType(read.scalar_type(), false) ? answer.whole : answer.real;
}

// The host reads one value that is not known: the policy's answer takes its place.
void AnswerRead(const OperatorFacts& facts, const at::Tensor& read, Stack& stack) {
  HostReads::Read note{.operation = facts.name,
                       .known = Known::kNo,
                       .is_condition = read.scalar_type() == at::kBool,
                       .answer = ""};
  const std::vector<PythonLine> lines = PythonStack();
  double value = 0;
  if (inside != nullptr && inside->next < inside->facts->rule->inside.size()) {
    note.operation = inside->facts->name;
    note.known = Known::kAssumed;
    value = inside->facts->rule->inside[inside->next++];
  } else {
    value = AnswerFor(facts.rule->AnswerAt(lines), read);
  }
  stack.back() = NumberLike(value, read);
  note.answer = NumberText(value, read);
  host_values->reads.Note(note, lines);
}

void NoteReads(const OperatorFacts& facts, const HostValuesCall& call, const ReadWatch& watch,
               Stack& stack) {
  const std::optional<Known> seen = watch.Seen();
  if (!seen) return;
  watch.Say();
  if (facts.reads_one_value && call.known() == Known::kNo) {
    AnswerRead(facts, call.first_input(), stack);
  } else if (*seen == Known::kYes) {
    host_values->reads.CountKnown();
  } else {
    const bool is_condition =
        facts.reads_one_value && call.first_input().scalar_type() == at::kBool;
    host_values->reads.Note(
        {.operation = facts.name, .known = *seen, .is_condition = is_condition, .answer = ""},
        PythonStack());
  }
}

// The number of elements that pass is the one thing such an operator reads from the card: it gets
// the true one, or the policy's, and allocates as on a GPU.
void AnswerCount(const OperatorFacts& facts, const HostValuesCall& call, bool computed) {
  memtrace_card_thread_state& thread = host_values->card.thread();
  const at::Tensor& of = call.first_input();
  if (!facts.rule->count || !of.defined()) return;
  std::optional<int64_t> count = computed ? call.ResultLength() : std::nullopt;
  if (!count) {
    count = static_cast<int64_t>(static_cast<double>(of.numel()) * *facts.rule->count);
    host_values->reads.Note({.operation = facts.name,
                             .known = Known::kNo,
                             .is_condition = false,
                             .answer = std::to_string(*count) + " elements"},
                            PythonStack());
  }
  thread.answer = static_cast<uint64_t>(*count);
  // CUB counts a mask in 32 bits and torch what is unique in 64.
  thread.answer_bytes = facts.name == "aten::nonzero" ? 4 : 8;
}

// What is captured in a graph is not done now.
bool IsCapturing() {
  return c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
}

// A copy that the card does byte by byte: it then knows what the target holds better than we do.
bool CardDoesIt(const OperatorFacts& facts, const Stack& stack) {
  if (!facts.transport) return false;
  const at::Tensor& to = stack[stack.size() - facts.arguments.size()].toTensor();
  const at::Tensor& from = stack[stack.size() - facts.arguments.size() + 1].toTensor();
  return to.is_contiguous() && from.is_contiguous() && to.scalar_type() == from.scalar_type() &&
         to.sizes() == from.sizes();
}

// x[1:3] += 1 ends with a copy of the slice to itself: nothing becomes known or unknown.
bool IsCopyToItself(const OperatorFacts& facts, const Stack& stack) {
  if (!facts.transport) return false;
  const at::Tensor& to = stack[stack.size() - facts.arguments.size()].toTensor();
  const at::Tensor& from = stack[stack.size() - facts.arguments.size() + 1].toTensor();
  return to.is_alias_of(from) && to.storage_offset() == from.storage_offset() &&
         to.sizes() == from.sizes() && to.strides() == from.strides() &&
         to.scalar_type() == from.scalar_type();
}

bool IsSeenBelow() {
  // A mode of Python's gets the operator next and calls it again, for us to see then.
  return c10::impl::tls_local_dispatch_key_set().included_.has(c10::DispatchKey::Python);
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

void Settle(const c10::OperatorHandle& op, const OperatorFacts& facts, HostValuesCall& call,
            bool computed, bool card_wrote, Stack& stack) {
  if (computed ||
      (call.has_inputs() && !IsCapturing() && call.ResultsFitLimit(stack) && call.Compute(op))) {
    call.WriteResults(stack);
  } else if (facts.rule->result && !IsCapturing()) {
    call.ForgetResults(stack, true);
    call.FillResults(stack, *facts.rule->result);
  } else {
    call.ForgetResults(stack, card_wrote || facts.open);
  }
}

void RunOnCard(const c10::OperatorHandle& op, const OperatorFacts& facts, HostValuesCall& call,
               DispatchKeySet below, Stack* stack) {
  memtrace_card_thread_state& thread = host_values->card.thread();
  const bool changes_nothing = IsCopyToItself(facts, *stack);
  const bool by_card = changes_nothing || CardDoesIt(facts, *stack);
  if (facts.transport && !changes_nothing) call.ForgetWhatItOverwrites();
  bool computed = false;
  if (!by_card && call.known() != Known::kNo && facts.WorthTrying()) {
    call.TakeInputs();
    // Its count decides what the operator allocates: first the values, then the operator.
    if (facts.rule->count) computed = call.Compute(op);
  }
  const ReadWatch watch(thread);
  const uint64_t writes = thread.writes;
  {
    const OperatorScope scope(thread, call.known());
    AnswerCount(facts, call, computed);
    // What equal reads inside is of no interest where its answer is computed.
    const bool open = facts.open && !(facts.gives_number && call.has_inputs());
    CallOperator(op, facts, open, below, stack);
  }
  // What a copy_ overwrites was forgotten before it, and what the card then copied counts.
  if (!facts.transport || call.has_inputs()) {
    Settle(op, facts, call, computed, thread.writes != writes, *stack);
  }
  NoteReads(facts, call, watch, *stack);
}

// Some composites launch kernels themselves (convolution_backward), into memory that is fresh.
void RunTransparent(const c10::OperatorHandle& op, const OperatorFacts& facts, DispatchKeySet below,
                    Stack* stack) {
  const InsideScope answers(facts);
  if (facts.view) {
    op.redispatchBoxed(below, stack);
    return;
  }
  const OperatorScope scope(host_values->card.thread(), Known::kNo);
  op.redispatchBoxed(below, stack);
}

void Leaf(const c10::OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const auto below = keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, kLeafKey);
  const OperatorFacts& facts = FactsOf(op, host_values->policy);
  if (facts.transparent || IsSeenBelow()) {
    RunTransparent(op, facts, below, stack);
    return;
  }
  HostValuesCall call(facts, host_values->card, host_values->policy, *stack);
  if (call.concerns_card()) {
    RunOnCard(op, facts, call, below, stack);
  } else {
    op.redispatchBoxed(below, stack);
  }
}

// A composite operator with a rule: its parts are seen at the leaves, its meaning only here.
void Composite(const c10::OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const auto below = keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, kCompositeKey);
  const OperatorFacts& facts = FactsOf(op, host_values->policy);
  const HostValuesCall call(facts, host_values->card, host_values->policy, *stack);
  const bool is_unknown = call.concerns_card() && call.known() == Known::kNo;
  {
    const InsideScope answers(facts);
    op.redispatchBoxed(below, stack);
  }
  if (is_unknown && facts.rule->result && !IsCapturing()) {
    call.FillResults(*stack, *facts.rule->result);
  }
}

bool IsComposite(const std::string& name) {
  const size_t dot = name.find('.', name.find("::"));
  const c10::OperatorName operator_name(name.substr(0, dot),
                                        dot == std::string::npos ? "" : name.substr(dot + 1));
  const auto op = c10::Dispatcher::singleton().findSchema(operator_name);
  return op && !op->hasKernelForDispatchKey(c10::DispatchKey::CUDA);
}

torch::Library& Register(const char* library, c10::DispatchKey key) {
  return host_values->registrations.emplace_back(torch::Library::IMPL, library, key, __FILE__,
                                                 __LINE__);
}

void RegisterWithDispatcher() {
  host_values->registrations.reserve(8);
  Register("_", kLeafKey).fallback(torch::CppFunction::makeFromBoxedFunction<&Leaf>());
  Register("_", kCompositeKey).fallback(torch::CppFunction::makeFallthrough());
  torch::Library& aten = Register("aten", kCompositeKey);
  constexpr std::string_view kAten = "aten::";
  for (const std::string& name : host_values->policy.OperatorNames()) {
    if (name.compare(0, kAten.size(), kAten) == 0 && IsComposite(name)) {
      aten.impl(name.substr(kAten.size()).c_str(),
                torch::CppFunction::makeFromBoxedFunction<&Composite>());
    }
  }
}

}  // namespace

std::string StartHostValues(const std::vector<std::string>& policy_files) {
  if (host_values != nullptr) return "";
  const CardContents* card = CardContents::OfProcess();
  if (card == nullptr) return "-";
  auto* made = new HostValues{.card = *card, .policy = {}, .registrations = {}};
  for (const std::string& file : policy_files) {
    if (std::string wrong = made->policy.AddFile(file); !wrong.empty()) return wrong;
  }
  host_values = made;
  RegisterWithDispatcher();
  memtrace_annotate("simulation.values", "on");
  made->reads.Annotate();
  return "";
}

void EnterHostValuesThread() {
  c10::impl::tls_set_dispatch_key_included(kLeafKey, true);
  c10::impl::tls_set_dispatch_key_included(kCompositeKey, true);
}

void ForgetFreshMemory(uint64_t address, size_t bytes) {
  if (host_values == nullptr || bytes == 0) return;
  host_values->card.Forget(address, bytes);
}

void BeginHostValuesStep() {
  if (host_values != nullptr) host_values->reads.BeginStep();
}

void AnnotateHostValues() {
  if (host_values != nullptr) host_values->reads.Annotate();
}

}  // namespace memtrace::shim
