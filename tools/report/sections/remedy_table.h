// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_REMEDY_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_REMEDY_TABLE_H_

#include <cstddef>

#include "tools/analysis/explained/card.h"
#include "tools/analysis/explained/cures.h"
#include "tools/analysis/explained/failure.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Lists the first `most` remedies, which take the least effort: the need with each, how that is
// known, and the line to change.
Section RemedySection(const analysis::CardExplanation& card, const analysis::ExplainedCures& cures,
                      const analysis::ExplainedFailure& failure, size_t most);

// Lists all remedies that are worth reading, and says which step decides.
Section AllRemediesSection(const analysis::CardExplanation& card,
                           const analysis::ExplainedCures& cures);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_REMEDY_TABLE_H_
