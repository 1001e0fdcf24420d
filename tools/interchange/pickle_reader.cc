// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/pickle_reader.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/interchange/paged_vector.h"
#include "tools/interchange/pickle_bytes.h"
#include "tools/interchange/pickle_opcodes.h"

namespace memtrace::interchange {
namespace {

using Kind = PickleValue::Kind;

constexpr uint64_t kNewestProtocol = 5;
constexpr uint64_t kSmallFile = uint64_t{192} << 20;
constexpr uint64_t kStepsPerCheck = 64;  // of memory

// The stack machine whose program is a pickle.
class Machine {
 public:
  explicit Machine(std::string_view pickle)
      : in_(pickle),
        most_bytes_(std::min(4 * uint64_t{pickle.size()} + kSmallFile, PickleTree::kMostBytes)) {}

  absl::StatusOr<PickleTree> Run(PickleCut* cut);

 private:
  // Carries out one instruction; an error is noted in wrong_.
  void Step(uint8_t code);
  bool StepNumber(PickleOpcode code);
  bool StepText(PickleOpcode code);
  bool StepContainer(PickleOpcode code);
  bool StepStack(PickleOpcode code);
  bool StepMemo(PickleOpcode code);

  void Push(PickleValue value) { stack_.push_back(value); }
  PickleValue Top();
  PickleValue Pop();
  size_t PopMark();
  // Both take the values from `first` on; a mark below them is already gone.
  void PushContainer(Kind kind, size_t first);
  void AppendFrom(Kind kind, size_t first);
  void PushLong(uint64_t bytes);
  void Remember(uint64_t place);
  void Recall(uint64_t place) {
    if (place >= memo_.size()) return Fail("it reads a memo entry that it did not set");
    Push(memo_[place]);
  }

  // Returns the bytes that a stack may take until the next check. If it may grow until then, its
  // old and its new values exist side by side for a moment.
  template <typename T>
  static uint64_t MostBytesUntilCheck(const std::vector<T>& stack) {
    const bool may_grow = stack.capacity() - stack.size() < kStepsPerCheck;
    return stack.capacity() * sizeof(T) * (may_grow ? 3 : 1);
  }

  void Fail(const std::string& what) {
    if (wrong_.ok()) wrong_ = absl::InvalidArgumentError(absl::StrCat(what, Place()));
  }
  void Refuse(uint8_t code);
  std::string Place() const { return absl::StrCat(" at byte ", instruction_); }
  bool IsWithinMemory() const {
    const uint64_t stacks = MostBytesUntilCheck(stack_) + 2 * MostBytesUntilCheck(marks_);
    return tree_.bytes() + stacks + memo_.size() * sizeof(PickleValue) <= most_bytes_;
  }

  PickleBytes in_;
  const uint64_t most_bytes_;
  PickleTree tree_;
  std::vector<PickleValue> stack_;
  std::vector<size_t> marks_;
  std::vector<size_t> mark_offsets_;  // of the instructions that set them
  PagedVector<PickleValue> memo_;
  size_t instruction_ = 0;  // where it begins
  bool has_stopped_ = false;
  absl::Status wrong_;
};

absl::StatusOr<PickleTree> Machine::Run(PickleCut* cut) {
  for (uint64_t steps = 0; !has_stopped_;) {
    instruction_ = in_.at();
    const size_t height = stack_.size();
    const auto code = in_.Number<uint8_t>();
    if (in_.ok()) Step(code);
    if (!in_.ok() && cut != nullptr) {
      stack_.resize(std::min(height, stack_.size()));  // what was pushed is no value
      *cut = CloseStack({stack_, marks_, mark_offsets_}, tree_);
      cut->kept_bytes = std::min(cut->kept_bytes, instruction_);
      break;
    }
    if (!in_.ok()) Fail("it ends in the middle of an instruction");
    if (!wrong_.ok()) return wrong_;
    // Memory is not checked after each instruction, because a few add little.
    if (++steps % kStepsPerCheck == 0 && !IsWithinMemory())
      return absl::ResourceExhaustedError(
          absl::StrCat("it needs more than ", most_bytes_ >> 20, " MiB of memory", Place()));
  }
  return std::move(tree_);
}

void Machine::Step(uint8_t code) {
  const auto opcode = static_cast<PickleOpcode>(code);
  if (opcode == PickleOpcode::kStop) {
    tree_.SetRoot(Pop());
    has_stopped_ = true;
    return;
  }
  if (StepMemo(opcode) || StepNumber(opcode) || StepContainer(opcode) || StepText(opcode) ||
      StepStack(opcode))
    return;
  Refuse(code);
}

bool Machine::StepNumber(PickleOpcode code) {
  switch (code) {
    case PickleOpcode::kNone:
      Push({});
      return true;
    case PickleOpcode::kNewTrue:
    case PickleOpcode::kNewFalse:
      Push({Kind::kBool, code == PickleOpcode::kNewTrue ? uint64_t{2} : uint64_t{0}});
      return true;
    case PickleOpcode::kBinInt:
      Push(tree_.NewInt(in_.Number<int32_t>()));
      return true;
    case PickleOpcode::kBinInt1:
      Push(tree_.NewInt(in_.Number<uint8_t>()));
      return true;
    case PickleOpcode::kBinInt2:
      Push(tree_.NewInt(in_.Number<uint16_t>()));
      return true;
    case PickleOpcode::kLong1:
      PushLong(in_.Number<uint8_t>());
      return true;
    case PickleOpcode::kLong4:
      PushLong(in_.Number<uint32_t>());
      return true;
    case PickleOpcode::kBinFloat:
      Push(tree_.NewFloat(in_.BigEndianFloat()));
      return true;
    default:
      return false;
  }
}

bool Machine::StepText(PickleOpcode code) {
  uint64_t length = 0;
  switch (code) {
    case PickleOpcode::kShortBinUnicode:
    case PickleOpcode::kShortBinBytes:
    case PickleOpcode::kShortBinString:
      length = in_.Number<uint8_t>();
      break;
    case PickleOpcode::kBinUnicode:
    case PickleOpcode::kBinBytes:
    case PickleOpcode::kBinString:
      length = in_.Number<uint32_t>();
      break;
    case PickleOpcode::kBinUnicode8:
    case PickleOpcode::kBinBytes8:
      length = in_.Number<uint64_t>();
      break;
    default:
      return false;
  }
  Push(tree_.NewText(in_.Take(length)));
  return true;
}

bool Machine::StepContainer(PickleOpcode code) {
  switch (code) {
    case PickleOpcode::kEmptyList:
    case PickleOpcode::kEmptyTuple:
      Push(tree_.containers().New(Kind::kSequence));
      return true;
    case PickleOpcode::kEmptyDict:
      Push(tree_.containers().New(Kind::kDict));
      return true;
    case PickleOpcode::kAppend:
      AppendFrom(Kind::kSequence, stack_.size() - 1);
      return true;
    case PickleOpcode::kAppends:
      AppendFrom(Kind::kSequence, PopMark());
      return true;
    case PickleOpcode::kSetItem:
      AppendFrom(Kind::kDict, stack_.size() - 2);
      return true;
    case PickleOpcode::kSetItems:
      AppendFrom(Kind::kDict, PopMark());
      return true;
    case PickleOpcode::kList:
    case PickleOpcode::kTuple:
      PushContainer(Kind::kSequence, PopMark());
      return true;
    case PickleOpcode::kDict:
      PushContainer(Kind::kDict, PopMark());
      return true;
    case PickleOpcode::kTuple1:
    case PickleOpcode::kTuple2:
    case PickleOpcode::kTuple3:
      PushContainer(Kind::kSequence, stack_.size() - (static_cast<size_t>(code) - 0x84));
      return true;
    default:
      return false;
  }
}

bool Machine::StepStack(PickleOpcode code) {
  switch (code) {
    case PickleOpcode::kMark:
      marks_.push_back(stack_.size());
      mark_offsets_.push_back(instruction_);
      return true;
    case PickleOpcode::kPop:
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
        mark_offsets_.pop_back();
      } else {
        Pop();
      }
      return true;
    case PickleOpcode::kPopMark:
      stack_.resize(PopMark());
      return true;
    case PickleOpcode::kDup:
      Push(Top());
      return true;
    case PickleOpcode::kProto:
      if (in_.Number<uint8_t>() > kNewestProtocol) Fail("it has an unknown protocol");
      return true;
    case PickleOpcode::kFrame:
      in_.Number<uint64_t>();
      return true;
    default:
      return false;
  }
}

bool Machine::StepMemo(PickleOpcode code) {
  switch (code) {
    case PickleOpcode::kBinGet:
      Recall(in_.Number<uint8_t>());
      return true;
    case PickleOpcode::kLongBinGet:
      Recall(in_.Number<uint32_t>());
      return true;
    case PickleOpcode::kMemoize:
      Remember(memo_.size());
      return true;
    case PickleOpcode::kBinPut:
      Remember(in_.Number<uint8_t>());
      return true;
    case PickleOpcode::kLongBinPut:
      Remember(in_.Number<uint32_t>());
      return true;
    default:
      return false;
  }
}

PickleValue Machine::Top() {
  if (!stack_.empty() && (marks_.empty() || marks_.back() < stack_.size())) return stack_.back();
  Fail("its stack is empty");
  return {};
}

PickleValue Machine::Pop() {
  const PickleValue top = Top();
  if (wrong_.ok()) stack_.pop_back();
  return top;
}

size_t Machine::PopMark() {
  if (marks_.empty()) {
    Fail("it ends a group that it did not begin");
    return stack_.size();
  }
  const size_t first = marks_.back();
  marks_.pop_back();
  mark_offsets_.pop_back();
  return first;
}

void Machine::PushContainer(Kind kind, size_t first) {
  const size_t least = marks_.empty() ? 0 : marks_.back();
  if (first > stack_.size() || first < least) return Fail("its stack is empty");
  const PickleValue made = tree_.containers().New(kind);
  const size_t count = stack_.size() - first;
  if (kind == Kind::kDict && count % 2 != 0) return Fail("a key has no value");
  tree_.containers().Append(made, stack_.data() + first, count);
  stack_.resize(first);
  Push(made);
}

void Machine::AppendFrom(Kind kind, size_t first) {
  const size_t least = marks_.empty() ? 0 : marks_.back();
  if (first > stack_.size() || first <= least) return Fail("its stack is empty");
  const PickleValue to = stack_[first - 1];
  if (to.kind() != kind) return Fail("it adds to a value that is not a list or dict");
  const size_t count = stack_.size() - first;
  if (kind == Kind::kDict && count % 2 != 0) return Fail("a key has no value");
  tree_.containers().Append(to, stack_.data() + first, count);
  stack_.resize(first);
}

void Machine::PushLong(uint64_t bytes) {
  const std::string_view digits = in_.Take(bytes);
  if (!in_.ok()) return;
  if (digits.size() > sizeof(uint64_t) && (digits.size() > 9 || digits.back() != '\0'))
    return Fail("a number has more than 64 bits");
  uint64_t number = !digits.empty() && (digits.back() & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (size_t i = std::min(digits.size(), sizeof(number)); i-- > 0;)
    number = number << 8 | static_cast<uint8_t>(digits[i]);
  Push(tree_.NewInt(static_cast<int64_t>(number)));
}

// Picklers count places up, so a place that is far ahead is an error: it would make room for
// nothing.
void Machine::Remember(uint64_t place) {
  const PickleValue top = Top();
  if (place > memo_.size()) return Fail("it sets a memo entry past the end of its memo");
  if (place == memo_.size()) {
    memo_.push_back(top);
  } else {
    memo_[place] = top;
  }
}

void Machine::Refuse(uint8_t code) {
  const char* unsafe = NameOfUnsafeOpcode(code);
  if (unsafe == nullptr)
    return Fail(absl::StrCat("it has the instruction ", code, ", which no snapshot has,"));
  if (wrong_.ok())
    wrong_ = absl::PermissionDeniedError(
        absl::StrCat("it holds more than data: ", unsafe, Place(), " would run code or import it"));
}

}  // namespace

absl::StatusOr<PickleTree> ReadPickle(std::string_view pickle, PickleCut* cut) {
  return Machine(pickle).Run(cut);
}

}  // namespace memtrace::interchange
