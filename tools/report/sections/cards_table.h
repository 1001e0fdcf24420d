// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_CARDS_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_CARDS_TABLE_H_

#include <string>

#include "tools/analysis/explanation.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns a row for each card of a program that has several, because an idle card beside a full one
// is often the answer. Empty for one card.
Section CardsSection(const analysis::Explanation& explanation);

// Returns "The load is uneven: cards 0, 1, 2 have 7.5, 78.3, 18.8 GiB in use." Empty if it is even,
// for one of several ranks, and for a program that completed on cards that it hardly filled.
std::string UnevenSentence(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_CARDS_TABLE_H_
