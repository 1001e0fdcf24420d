// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PICKLE_VALUE_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PICKLE_VALUE_H_

#include <cstdint>

namespace memtrace::interchange {

// A value in a PickleTree; only the tree can say more of it. Two equal values of a list, dict or
// tuple are the same object of the pickle: blocks that shared a frame list there share it here.
class PickleValue {
 public:
  enum class Kind : uint8_t { kNone, kBool, kInt, kWideInt, kFloat, kText, kSequence, kDict };

  PickleValue() = default;
  PickleValue(Kind kind, uint64_t payload)
      : bits_(payload << kKindBits | static_cast<uint64_t>(kind)) {}

  Kind kind() const { return static_cast<Kind>(bits_ & ((1 << kKindBits) - 1)); }
  uint64_t payload() const { return bits_ >> kKindBits; }
  bool is_sequence() const { return kind() == Kind::kSequence; }
  bool is_dict() const { return kind() == Kind::kDict; }
  bool operator==(const PickleValue&) const = default;

 private:
  static constexpr unsigned kKindBits = 3;
  uint64_t bits_ = 0;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PICKLE_VALUE_H_
