// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/glossary.h"

#include <array>
#include <cctype>

#include "messages/message.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

constexpr std::array kTerms = {
#define MEMTRACE_TERM(name, meaning) Term{name, meaning},
#include "tools/report/words/glossary.def"
#undef MEMTRACE_TERM
};

// Returns the words in lower case, with blanks for underscores and without the ending of a plural.
std::string Normal(std::string_view words) {
  std::string normal;
  for (const char c : words)
    normal += c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (normal.size() > 1 && normal.back() == 's') normal.pop_back();
  return normal;
}

}  // namespace

std::span<const Term> Glossary() { return kTerms; }

std::optional<Term> TermNamed(std::string_view words) {
  // The row of the ledger has the term in brackets.
  if (words == LedgerWords(analysis::LedgerPart::kHoles)) return TermNamed("hole");
  const std::string wanted = Normal(words);
  for (const Term& term : kTerms) {
    if (Normal(term.name) == wanted || MessageOf(term.name) == words) return term;
  }
  return std::nullopt;
}

}  // namespace memtrace::report
