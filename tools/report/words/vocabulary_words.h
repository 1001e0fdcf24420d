// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_VOCABULARY_WORDS_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_VOCABULARY_WORDS_H_

#include <optional>
#include <string>
#include <string_view>

#include "profiler/trace/events/event.h"
#include "tools/analysis/replayed/card_ledger.h"
#include "tools/analysis/source/evidence.h"

// The words that people read for the names in traces and in JSON, in the language in use.
namespace memtrace::report {

std::string RoleWords(trace::Role role);       // "optimizer states"
std::string RoleWords(std::string_view name);  // the same by its name; others are only printable
std::optional<trace::Role> RoleNamed(std::string_view name);  // nothing if no role has the name
std::string LedgerWords(analysis::LedgerPart part);           // "in use"
std::string OffCardWords(analysis::OffCardPart part);         // "in use on the host"
std::string EvidenceWords(analysis::Evidence evidence);       // "inferred"
std::string OutsideKindWords(trace::OutsideKind kind);        // "stream-ordered"

// Returns a site, owner or module as it is printed. Only those that stand for none, such as
// "(no stack)" and "(in backward)", have words; the others are names of the program's.
std::string SiteWords(std::string_view site);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_VOCABULARY_WORDS_H_
