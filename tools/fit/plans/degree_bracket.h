// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_PLANS_DEGREE_BRACKET_H_
#define MEMTRACE_TOOLS_FIT_PLANS_DEGREE_BRACKET_H_

#include <cstdint>

namespace memtrace::fit {

// Finds the least degree that fits, between one that fails and one that fits. Tries what a model
// predicts, and the middle if the prediction was wrong twice on the same side.
class DegreeBracket {
 public:
  // Requires fails < fits.
  DegreeBracket(uint32_t fails, uint32_t fits) : fails_(fails), fits_(fits) {}

  bool is_closed() const { return fits_ - fails_ == 1; }
  uint32_t fails() const { return fails_; }  // the largest degree that failed
  uint32_t fits() const { return fits_; }    // the least that fitted

  // Returns the degree to try, if the model expects `predicted` to be the least that fits. Requires
  // !is_closed().
  uint32_t Next(uint32_t predicted) const;

  // Notes the result of a degree between fails() and fits().
  void Note(uint32_t degree, bool fits);

 private:
  uint32_t fails_;
  uint32_t fits_;
  bool fitted_last_ = false;
  uint32_t on_same_side_ = 0;  // results like the last one, in a row
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_PLANS_DEGREE_BRACKET_H_
