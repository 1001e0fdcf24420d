// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/answers.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace memtrace::shim {
namespace {

thread_local InsideScope* inside = nullptr;

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

// True if sizes may follow from what was read: it is a list of whole numbers.
bool IsList(const OperatorFacts& facts, const torch::jit::Stack& stack) {
  if (!facts.transport || !stack.back().isTensor()) return false;
  const at::Tensor& copy = stack.back().toTensor();
  return copy.numel() > 1 && c10::isIntegralType(copy.scalar_type(), /*includeBool=*/false);
}

}  // namespace

InsideScope::InsideScope(const OperatorFacts& facts) : facts_(facts), outer_(inside) {
  if (!facts.rule->inside.empty()) inside = this;
}

InsideScope::~InsideScope() { inside = outer_; }

// Replaces one unknown value that the host reads with the policy's answer.
void Answers::GiveNumber(const OperatorFacts& facts, const at::Tensor& read,
                         torch::jit::Stack& stack) {
  HostReads::Read note{.operation = facts.name,
                       .known = Known::kUnknown,
                       .is_condition = read.scalar_type() == at::kBool,
                       .answer = ""};
  const std::vector<PythonLine> lines = PythonStack();
  double value = 0;
  if (inside != nullptr && inside->HasNext()) {
    note.operation = inside->facts().name;
    note.known = Known::kAssumed;
    value = inside->Next();
  } else {
    value = AnswerFor(facts.rule->AnswerAt(lines), read);
  }
  stack.back() = NumberLike(value, read);
  note.answer = NumberText(value, read);
  reads_.Note(note, lines);
}

Choice Answers::Choose(const OperatorRule& rule) {
  if (rule.StatesChoice()) reads_.NoteChoice();
  return rule.choice == Choice::kEven && is_uneven_ ? Choice::kFirst : rule.choice;
}

void Answers::NoteReads(const OperatorFacts& facts, const OperatorCall& call,
                        const ReadWatch& watch, torch::jit::Stack& stack) {
  const std::optional<Known> seen = watch.Seen();
  if (!seen) return;
  watch.MarkAccounted();
  if (facts.rule->is_private) return;
  if (facts.reads_one_value && call.known() == Known::kUnknown) {
    GiveNumber(facts, call.first_input(), stack);
  } else if (*seen == Known::kKnown) {
    reads_.CountKnown();
  } else {
    const bool is_condition =
        facts.reads_one_value && call.first_input().scalar_type() == at::kBool;
    reads_.Note({.operation = facts.name,
                 .known = *seen,
                 .is_condition = is_condition,
                 .decides_sizes = IsList(facts, stack),
                 .answer = ""},
                PythonStack());
  }
}

int64_t Answers::CountOf(const OperatorFacts& facts, const at::Tensor& tensor) {
  const std::optional<int64_t> before = counts_.Find(facts.name, tensor);
  const int64_t count = before.value_or(
      static_cast<int64_t>(static_cast<double>(tensor.numel()) * *facts.rule->count));
  NoteCount(facts, before ? Known::kAssumed : Known::kUnknown, std::to_string(count) + " elements");
  return count;
}

// `answer` is "" for a count that was computed: it differs from read to read.
void Answers::NoteCount(const OperatorFacts& facts, Known known, std::string answer) {
  if (known == Known::kKnown) return reads_.CountKnown();
  reads_.Note({.operation = facts.name,
               .known = known,
               .is_condition = false,
               .decides_sizes = true,
               .answer = std::move(answer)},
              PythonStack());
}

void Answers::GiveCount(const OperatorFacts& facts, const OperatorCall& call, bool computed) {
  memtrace_card_thread_state& thread = card_.thread();
  const at::Tensor& of = call.first_input();
  if (!facts.rule->count || !of.defined()) return;
  std::optional<int64_t> count = computed ? call.ResultLength() : std::nullopt;
  if (count)
    NoteCount(facts, call.known(), "");
  else
    count = CountOf(facts, of);
  // A count of zero is not remembered: the tensor may still have to be filled, perhaps by a kernel
  // that torch does not know of.
  if (*count > 0) counts_.Remember(facts.name, of, *count);
  thread.answer = static_cast<uint64_t>(*count);
  // CUB counts a mask in 32 bits, and torch counts unique elements in 64.
  thread.answer_bytes = facts.name == "aten::nonzero" ? 4 : 8;
}

}  // namespace memtrace::shim
