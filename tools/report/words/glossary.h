// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_GLOSSARY_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_GLOSSARY_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace memtrace::report {

// A word of the reports, in English; MessageOf() translates both.
struct Term {
  std::string_view name;
  std::string_view meaning;
};

// Lists all terms in the order of the alphabet.
std::span<const Term> Glossary();

// Returns the term that the words name, in English or in the language in use: "granule",
// "Granules", "optimizer_state".
std::optional<Term> TermNamed(std::string_view words);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_GLOSSARY_H_
