// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PICKLE_TREE_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PICKLE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tools/interchange/paged_vector.h"

namespace memtrace::interchange {

// A value in a PickleTree, which alone can say more of it. Equal values of one list, dict or tuple
// are the same object of the pickle: what shared a frame list there shares it here.
class PickleValue {
 public:
  enum class Kind : uint8_t { kNone, kBool, kInt, kWideInt, kFloat, kText, kSequence, kDict };

  PickleValue() = default;
  PickleValue(Kind kind, uint64_t payload)
      : bits_(payload << kKindBits | static_cast<uint64_t>(kind)) {}

  Kind kind() const { return static_cast<Kind>(bits_ & ((1 << kKindBits) - 1)); }
  uint64_t payload() const { return bits_ >> kKindBits; }
  bool operator==(const PickleValue&) const = default;

 private:
  static constexpr unsigned kKindBits = 3;
  uint64_t bits_ = 0;
};

// What a pickle of plain data holds: None, booleans, numbers, texts, and sequences (lists, tuples)
// and dicts of them, which may hold themselves. Texts are views of the pickle's bytes. Thread rule:
// one thread writes, then any number read.
class PickleTree {
 public:
  using Kind = PickleValue::Kind;

  PickleValue root() const { return root_; }

  // Nothing if it is of another kind. Booleans are 0 and 1; of unsigned numbers from 2^63 on the
  // bits are given.
  std::optional<int64_t> Int(PickleValue value) const;
  std::optional<double> Float(PickleValue value) const;  // of whole numbers, too
  std::optional<std::string_view> Text(PickleValue value) const;

  static bool IsSequence(PickleValue value) { return value.kind() == Kind::kSequence; }
  static bool IsDict(PickleValue value) { return value.kind() == Kind::kDict; }
  // How many sequences and dicts there are: their payloads are below it.
  size_t containers() const { return containers_.size(); }
  // Of a sequence its items, of a dict its pairs; 0 of anything else.
  size_t Size(PickleValue value) const;

  // `visit(PickleValue)` with each item of a sequence; none of anything else.
  template <typename Visit>
  void ForEach(PickleValue sequence, Visit visit) const {
    if (!IsSequence(sequence)) return;
    VisitItems(
        sequence, [&](uint64_t at) { visit(items_[at]); }, 1);
  }
  // `visit(std::string_view key, PickleValue)` with each pair of a dict whose key is a text.
  template <typename Visit>
  void ForEachPair(PickleValue dict, Visit visit) const {
    if (!IsDict(dict)) return;
    const auto pair = [&](uint64_t at) {
      if (const auto key = Text(items_[at])) visit(*key, items_[at + 1]);
    };
    VisitItems(dict, pair, 2);
  }
  // The latest value of the key; None if there is none or it is no dict.
  PickleValue Find(PickleValue dict, std::string_view key) const;

  // For whoever reads a pickle. Bytes taken so far, about; at most kMostBytes, since places have 32
  // bits.
  static constexpr uint64_t kMostBytes = uint64_t{32} << 30;
  uint64_t bytes() const { return bytes_; }
  PickleValue NewInt(int64_t value);
  PickleValue NewFloat(double value);
  PickleValue NewText(std::string_view text);
  PickleValue NewContainer(Kind kind);
  // Adds `count` items to a sequence, or count / 2 pairs to a dict.
  void Append(PickleValue container, const PickleValue* items, size_t count);
  void SetRoot(PickleValue root) { root_ = root; }

 private:
  // Items that came at once lie side by side.
  struct Run {
    uint32_t begin = 0;
    uint32_t count = 0;
    uint32_t next = 0;  // place in runs_, plus 1; 0: the last
  };
  struct Chain {
    uint32_t first = 0;  // places in runs_, plus 1; 0: empty
    uint32_t last = 0;
    uint32_t items = 0;
  };

  template <typename Visit>
  void VisitItems(PickleValue container, Visit visit, uint32_t stride) const {
    uint32_t place = containers_[container.payload()].first;
    while (place != 0) {
      const Run& run = runs_[place - 1];
      for (uint32_t i = 0; i + stride <= run.count; i += stride) visit(run.begin + i);
      place = run.next;
    }
  }

  PickleValue root_;
  // What grows is never copied, so that memory is what is counted.
  PagedVector<PickleValue> items_;
  PagedVector<Run> runs_;
  PagedVector<Chain> containers_;
  PagedVector<std::string_view> texts_;
  PagedVector<int64_t> wide_;
  PagedVector<double> floats_;
  uint64_t bytes_ = 0;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PICKLE_TREE_H_
