// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_VOCABULARY_LEDGER_ENTRIES_H_
#define MEMTRACE_PROFILER_TRACE_VOCABULARY_LEDGER_ENTRIES_H_

#include <string_view>

// The words of ledger.def and off_card.def: kStreamWait is "stream_wait", kOnHost is "on_host".
namespace memtrace::trace::entry {

#define MEMTRACE_LEDGER_ENTRY(name, word, meaning) inline constexpr std::string_view k##name = word;
#define MEMTRACE_OFF_CARD_ENTRY MEMTRACE_LEDGER_ENTRY
#include "profiler/trace/vocabulary/ledger.def"
#include "profiler/trace/vocabulary/off_card.def"
#undef MEMTRACE_OFF_CARD_ENTRY
#undef MEMTRACE_LEDGER_ENTRY

}  // namespace memtrace::trace::entry

#endif  // MEMTRACE_PROFILER_TRACE_VOCABULARY_LEDGER_ENTRIES_H_
