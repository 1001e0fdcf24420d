// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/operator_facts.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/mutex.h"
#include "interpose/torch/operations/shape_operators.h"

namespace memtrace::shim {
namespace {

bool HoldsTensors(const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::TensorType) return true;
  if (type->kind() != c10::TypeKind::OptionalType && type->kind() != c10::TypeKind::ListType)
    return false;
  return HoldsTensors(type->containedType(0));
}

// Lists them by name, because a schema marks which arguments are written, not if they are also
// read.
bool OverwritesFirstArgument(const std::string& name) {
  static const auto* names = new std::unordered_set<std::string>{
      "aten::copy_",          "aten::zero_",         "aten::fill_",      "aten::_foreach_zero_",
      "aten::_foreach_copy_", "aten::normal_",       "aten::uniform_",   "aten::random_",
      "aten::bernoulli_",     "aten::exponential_",  "aten::geometric_", "aten::log_normal_",
      "aten::cauchy_",        "aten::_foreach_fill_"};
  return names->count(name) != 0;
}

bool StartsWith(const std::string& text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

// Collectives return before they are done: another thread copies to and from the card, which sees
// those copies itself. If we forgot the result afterwards, we could forget data that has just
// arrived.
bool IsCollective(const std::string& operator_name) {
  return StartsWith(operator_name, "c10d::") || StartsWith(operator_name, "_c10d_functional::");
}

bool IsTransparent(const c10::OperatorHandle& op, bool is_aten, bool is_transport) {
  if (IsView(op.schema()) || op.hasTag(at::Tag::inplace_view)) return true;
  const std::string& name = op.schema().name();
  // record_stream is marked as writing its tensor, but only delays its reuse.
  if (name == "aten::record_stream" || IsCollective(name)) return true;
  if (!is_aten || is_transport) return false;
  return !op.hasKernelForDispatchKey(c10::DispatchKey::CUDA);
}

OperatorFacts::Argument ArgumentFacts(const c10::Argument& argument, bool is_first,
                                      const std::string& operator_name, const OperatorRule& rule) {
  OperatorFacts::Argument facts;
  const c10::TypePtr& type = argument.real_type();
  const bool is_named =
      std::find(rule.writes.begin(), rule.writes.end(), argument.name()) != rule.writes.end();
  facts.holds_tensors = HoldsTensors(type);
  facts.written =
      facts.holds_tensors &&
      (is_named || (argument.alias_info() != nullptr && argument.alias_info()->isWrite()));
  facts.resized = facts.written && argument.kwarg_only();
  facts.overwritten =
      facts.resized || (facts.written && is_first && OverwritesFirstArgument(operator_name));
  const c10::TypePtr plain =
      type->kind() == c10::TypeKind::OptionalType ? type->containedType(0) : type;
  facts.is_device = plain->kind() == c10::TypeKind::DeviceObjType || argument.name() == "device";
  facts.is_generator = plain->kind() == c10::TypeKind::GeneratorType;
  facts.is_pin_memory = argument.name() == "pin_memory";
  return facts;
}

class Facts {
 public:
  const OperatorFacts& Find(const c10::OperatorHandle& op, const HostValuesPolicy& policy) {
    const MutexLock lock(mutex_);
    auto& facts = by_schema_[&op.schema()];
    if (facts == nullptr || !MatchesOperator(*facts, op)) {
      // Another thread may still read the old facts.
      if (facts != nullptr) retired_.push_back(std::move(facts));
      facts = std::make_unique<OperatorFacts>(op, policy);
    }
    return *facts;
  }

  // False if a library was removed and another one got the same address for its schema.
  static bool MatchesOperator(const OperatorFacts& facts, const c10::OperatorHandle& op) {
    const c10::FunctionSchema& schema = op.schema();
    return facts.arguments.size() == schema.arguments().size() &&
           facts.result_is_argument.size() == schema.returns().size() &&
           facts.name == schema.name() && facts.overload == schema.overload_name();
  }

 private:
  Mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<OperatorFacts>> by_schema_;
  std::vector<std::unique_ptr<OperatorFacts>> retired_;
};

}  // namespace

OperatorFacts::OperatorFacts(const c10::OperatorHandle& op, const HostValuesPolicy& policy)
    : name(op.schema().name()), overload(op.schema().overload_name()) {
  const c10::FunctionSchema& schema = op.schema();
  rule = policy.Find(name, overload);
  const bool is_aten = StartsWith(name, "aten::");
  transport = name == "aten::copy_";
  transparent = IsTransparent(op, is_aten, transport);
  collective = IsCollective(name);
  view = IsView(schema) || op.hasTag(at::Tag::inplace_view);
  open = !is_aten || rule->open || !rule->inside.empty();
  reads_one_value = name == "aten::_local_scalar_dense";
  makes_zero = name == "aten::zero_" || name == "aten::_foreach_zero_";
  makes_constant = name == "aten::fill_" && overload == "Scalar";
  gives_number = reads_one_value || name == "aten::equal";
  bool writes = false;
  bool has_generator = false;
  for (const c10::Argument& argument : schema.arguments()) {
    Argument facts = ArgumentFacts(argument, arguments.empty(), name, *rule);
    takes_tensors = takes_tensors || facts.holds_tensors;
    takes_device = takes_device || facts.is_device;
    writes = writes || facts.written;
    has_generator = has_generator || facts.is_generator;
    arguments.push_back(facts);
  }
  bool gives_tensors = false;
  for (const c10::Argument& result : schema.returns()) {
    gives_tensors = gives_tensors || HoldsTensors(result.type());
    result_is_argument.push_back(result.alias_info() != nullptr);
  }
  random = op.hasTag(at::Tag::nondeterministic_seeded);
  computable = is_aten && !rule->never && (gives_tensors || writes || gives_number) &&
               (!random || has_generator) && !StartsWith(name, "aten::empty");
}

const OperatorFacts& FactsOf(const c10::OperatorHandle& op, const HostValuesPolicy& policy) {
  static auto* all = new Facts;
  thread_local std::unordered_map<const void*, const OperatorFacts*> seen;
  const OperatorFacts*& facts = seen[&op.schema()];
  if (facts == nullptr || !Facts::MatchesOperator(*facts, op)) facts = &all->Find(op, policy);
  return *facts;
}

}  // namespace memtrace::shim
