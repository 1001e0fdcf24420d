// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PICKLE_TREE_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PICKLE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tools/interchange/paged_vector.h"
#include "tools/interchange/pickle_containers.h"
#include "tools/interchange/pickle_value.h"

namespace memtrace::interchange {

// The contents of a pickle of plain data: None, booleans, numbers, texts, and sequences (lists,
// tuples) and dicts of them, which may hold themselves. Numbers and texts are here, containers()
// has what holds them. Texts are views of the pickle's bytes. Thread rule: one thread writes, then
// any number read.
class PickleTree {
 public:
  using Kind = PickleValue::Kind;

  PickleValue root() const { return root_; }

  // Return nothing if the value is of another kind. Booleans are 0 and 1; an unsigned number from
  // 2^63 on gives its bits.
  std::optional<int64_t> Int(PickleValue value) const;
  std::optional<double> Float(PickleValue value) const;  // also of whole numbers
  std::optional<std::string_view> Text(PickleValue value) const;

  // Returns the number of a sequence's items or of a dict's pairs; 0 for anything else.
  size_t Size(PickleValue value) const;

  // Calls `visit(PickleValue)` with each item of a sequence; not for anything else.
  template <typename Visit>
  void ForEach(PickleValue sequence, Visit visit) const {
    if (sequence.is_sequence()) containers_.ForEach(sequence, visit);
  }
  // Calls `visit(std::string_view key, PickleValue)` with each pair of a dict whose key is a text.
  template <typename Visit>
  void ForEachPair(PickleValue dict, Visit visit) const {
    if (!dict.is_dict()) return;
    containers_.ForEachPair(dict, [&](PickleValue name, PickleValue value) {
      if (const auto key = Text(name)) visit(*key, value);
    });
  }
  // Returns the latest value of the key; None if there is none or `dict` is no dict.
  PickleValue Find(PickleValue dict, std::string_view key) const;

  const PickleContainers& containers() const { return containers_; }

  // For readers of a pickle. Returns about how many bytes were taken so far: at most kMostBytes,
  // because places have 32 bits.
  static constexpr uint64_t kMostBytes = uint64_t{32} << 30;
  uint64_t bytes() const { return bytes_ + containers_.bytes(); }
  PickleContainers& containers() { return containers_; }
  PickleValue NewInt(int64_t value);
  PickleValue NewFloat(double value);
  PickleValue NewText(std::string_view text);
  void SetRoot(PickleValue root) { root_ = root; }

 private:
  PickleValue root_;
  PickleContainers containers_;
  // Data that grows is never copied, so that the memory taken is what is counted.
  PagedVector<std::string_view> texts_;
  PagedVector<int64_t> wide_;
  PagedVector<double> floats_;
  uint64_t bytes_ = 0;  // of numbers and texts
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PICKLE_TREE_H_
