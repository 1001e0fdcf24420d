// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FLEET_CARD_COLUMNS_H_
#define MEMTRACE_TOOLS_FLEET_CARD_COLUMNS_H_

#include "tools/analysis/views/run_summary.h"
#include "tools/fleet/column_values.h"

namespace memtrace::fleet {

// Adds the columns about the cards that the process used. Bytes are sums over these cards; each
// card counts at the moment of its own peak, which need not be the same.
void AddCardColumns(const analysis::RunSummary& summary, ColumnValues& row);

}  // namespace memtrace::fleet

#endif  // MEMTRACE_TOOLS_FLEET_CARD_COLUMNS_H_
