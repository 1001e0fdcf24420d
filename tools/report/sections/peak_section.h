// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_PEAK_SECTION_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_PEAK_SECTION_H_

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "tools/analysis/explained/card.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns the peaks of `card`: of requested bytes, by holder, and of reserved
// bytes, by kind; and how often torch had to give back its cache, or to wait.
Section PeakSection(const analysis::CardExplanation& card);

// Returns null if the trace has no segments.
nlohmann::ordered_json ReservedPeakJson(const analysis::CardExplanation& card);

// Says what filled most of the card, if that was not blocks in use: "20.10 GiB of card 0's 24.00
// GiB was freed but still waited for other streams ...". Empty otherwise.
std::string WaitingSentence(const analysis::CardExplanation& card);

// Says how much of the card was left when it was fullest; empty if the card's size is not known.
std::string LeftSentence(const analysis::CardExplanation& card);

// Returns "At most 22.70 GiB was reserved, in step 2, ..." if much more was reserved than in use.
std::string ReservedSentence(const analysis::CardExplanation& card);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_PEAK_SECTION_H_
