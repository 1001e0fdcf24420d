// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_NEEDS_GAP_H_
#define MEMTRACE_TOOLS_FIT_NEEDS_GAP_H_

#include <string>
#include <string_view>
#include <vector>

namespace memtrace::fit {

// A moment that the program has and that a run did not see (docs/design/whole-job.md).
struct Gap {
  std::string moment;    // a word of moments.def
  std::string evidence;  // a sentence that says how it is known that the program has it
  std::string why_not;   // a sentence that says why it could not be made to happen; or empty

  friend bool operator==(const Gap&, const Gap&) = default;
};

// Parses the annotation fit.gaps; returns none if the text is malformed.
std::vector<Gap> GapsOf(std::string_view text);

// Adds those of `more` whose moment is not among `gaps` yet: ranks name the same.
void AddGaps(const std::vector<Gap>& more, std::vector<Gap>& gaps);

// Returns the words for a moment of moments.def in the language in use: "an evaluation"; for
// another word the word itself.
std::string MomentWords(std::string_view moment);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_NEEDS_GAP_H_
