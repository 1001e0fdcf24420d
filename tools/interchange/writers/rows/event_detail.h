// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_EVENT_DETAIL_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_EVENT_DETAIL_H_

#include <string>

#include "nlohmann/json.hpp"
#include "profiler/trace/events/event.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::interchange {

// Returns what an event says beyond the columns that all events share, as a JSON object with the
// field names of profiler/trace/events/event.h; empty if that is nothing.
std::string DetailOf(const trace::Event& event, const analysis::EventSource& source);

nlohmann::ordered_json LedgerJson(const trace::CardLedger& ledger);

// Returns the JSON in one line; bytes that are no UTF-8 become U+FFFD.
std::string CompactJson(const nlohmann::ordered_json& json);

// Returns the text, with U+FFFD for bytes that are no UTF-8.
std::string ValidUtf8(std::string_view text);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_EVENT_DETAIL_H_
