// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/pickle_prefix.h"

#include <utility>

namespace memtrace::interchange {
namespace {

using Kind = PickleValue::Kind;
using Values = std::vector<PickleValue>;

bool IsContainer(PickleValue value) { return value.is_sequence() || value.is_dict(); }

// Tells lists and dicts from all else: a value that is not like the first item of a list is not its
// item.
Kind Likeness(PickleValue value) { return IsContainer(value) ? value.kind() : Kind::kNone; }

class Closing {
 public:
  Closing(const UnfinishedStack& stack, PickleTree& tree) : stack_(stack), tree_(tree) {}

  PickleCut Run() {
    cut_.is_cut = true;
    cut_.kept_bytes = ~size_t{0};
    const size_t levels = stack_.marks.size() + 1;
    for (size_t level = levels; level-- > 1;) CloseLevel(level);
    if (!Contents(0).empty()) {
      const Values contents = Contents(0);
      tree_.SetRoot(contents.front());
      if (IsContainer(contents.front()))
        Put(contents.front(), {contents.begin() + 1, contents.end()}, levels == 1);
    }
    return std::move(cut_);
  }

 private:
  size_t Begin(size_t level) const { return level == 0 ? 0 : stack_.marks[level - 1]; }
  size_t End(size_t level) const {
    return level == stack_.marks.size() ? stack_.values.size() : stack_.marks[level];
  }
  // Returns the values of a level, without a dict that levels above were to fill.
  Values Contents(size_t level) const {
    if (Begin(level) >= End(level)) return {};
    const auto values = stack_.values.subspan(Begin(level), End(level) - Begin(level));
    Values contents(values.begin(), values.end());
    const bool is_open = level < stack_.marks.size();
    const bool is_root = level == 0 && contents.size() == 1;
    if (is_open && !is_root && contents.back().is_dict()) contents.pop_back();
    return contents;
  }

  // Puts the level into the container below its mark, if that is one to keep.
  void CloseLevel(size_t level) {
    const size_t mark = Begin(level);
    const bool is_root = mark == 1;
    const bool has_container = mark > Begin(level - 1) && IsContainer(stack_.values[mark - 1]);
    if (!has_container || (stack_.values[mark - 1].is_dict() && !is_root)) {
      cut_.kept_bytes = stack_.mark_offsets[level - 1];
      return;
    }
    const PickleValue container = stack_.values[mark - 1];
    Put(container, Contents(level), level == stack_.marks.size());
    if (container.is_sequence()) cut_.unfinished.push_back(container);
  }

  void Put(PickleValue container, const Values& contents, bool is_top) {
    const size_t items = container.is_dict() ? PairsIn(contents) : CountLikeFirst(contents);
    if (items == 0) return;
    const bool last_is_whole = FillNestedContainers(contents, items - 1, is_top);
    const size_t whole = items - (last_is_whole ? 0 : 1);
    tree_.containers().Append(container, contents.data(),
                              container.is_dict() ? whole & ~1U : whole);
  }

  // Returns the number of values up to the last of the pairs with a text for a key.
  size_t PairsIn(const Values& contents) const {
    size_t count = 0;
    while (count + 1 < contents.size() && tree_.Text(contents[count])) count += 2;
    return count;
  }
  static size_t CountLikeFirst(const Values& contents) {
    size_t count = 0;
    while (count < contents.size() && Likeness(contents[count]) == Likeness(contents[0])) ++count;
    return count;
  }

  // Fills containers that have no mark: each holds the one value behind it, which may be such a
  // container again. Returns false if what lies at `at` is not whole; then nothing behind it is.
  bool FillNestedContainers(const Values& contents, size_t at, bool is_top) {
    size_t end = at;
    while (end + 1 < contents.size() && contents[end].is_sequence()) ++end;
    const PickleValue last = contents[end];
    const bool is_last = end + 1 == contents.size();
    if (last.is_sequence() && is_top) cut_.unfinished.push_back(last);
    // A dict is filled at once, so an empty one was about to be filled.
    const bool drops = last.is_dict() && (!is_last || (is_top && tree_.Size(last) == 0));
    if (end == at) return !drops;
    for (size_t i = drops ? end - 1 : end; i > at; --i)
      tree_.containers().Append(contents[i - 1], &contents[i], 1);
    for (size_t i = at; i < end; ++i) cut_.unfinished.push_back(contents[i]);
    return true;
  }

  const UnfinishedStack& stack_;
  PickleTree& tree_;
  PickleCut cut_;
};

}  // namespace

PickleCut CloseStack(const UnfinishedStack& stack, PickleTree& tree) {
  return Closing(stack, tree).Run();
}

}  // namespace memtrace::interchange
