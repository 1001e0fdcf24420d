// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_SIZES_VALUE_BOUNDS_H_
#define MEMTRACE_TOOLS_FIT_SIZES_VALUE_BOUNDS_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace memtrace::fit {

// The largest value known to fit a card and the smallest known not to, and the value to run next.
// Values begin at 1, and larger ones need more. Runs without a limit tell what to expect of some
// values. An expectation guides the search, but only a run on the card decides.
class ValueBounds {
 public:
  // Searches values up to `most`. The first ones to run are `guess` and its neighbours.
  ValueBounds(uint64_t guess, uint64_t most);

  void ExpectToFit(uint64_t value);
  void ExpectToFail(uint64_t value);
  void NoteRun(uint64_t value, bool fits);

  // Returns the value to run next. Returns nothing if the search is over: a value and the one
  // after it were run, and only the first fits; or all values fit, or none.
  std::optional<uint64_t> Next() const;

  // Returns the value to run after that one, if it fits; nothing if the search is over then.
  std::optional<uint64_t> NextIfFits(uint64_t value) const;

  // Values that were run; nothing if none of them fits, or all do.
  std::optional<uint64_t> largest() const;
  std::optional<uint64_t> fails() const;

 private:
  struct Bound {
    uint64_t value = 0;
    bool was_run = true;
  };

  std::vector<uint64_t> guesses_;  // to try if they are within the bounds, the first one first
  Bound fits_;                     // 0: no value is known to fit
  Bound fails_;                    // one more than the last value: none is known to fail
  uint64_t most_;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_SIZES_VALUE_BOUNDS_H_
