// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_TOOLS_REPORT_FIT_FIT_ANSWERS_H_
#define MEMTRACE_TESTS_TOOLS_REPORT_FIT_FIT_ANSWERS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "tools/report/fit/fit_document.h"
#include "tools/report/words/document.h"
#include "tools/report/words/text_document.h"

namespace memtrace::report {

inline constexpr uint64_t kMiB = 1 << 20;

// A run that needed `mib` MiB on a card of 1,000 MiB, and was stopped after five steps.
inline fit::Outcome RunOf(uint64_t mib) {
  fit::Outcome outcome;
  outcome.completed = true;
  fit::ProcessNeed& process = outcome.processes.emplace_back();
  process.steps = 5;
  process.end = fit::TrialEnd::kSettled;
  fit::CardNeed& need = process.cards.emplace_back();
  need.peak_allocated = need.peak_reserved = need.total = mib * kMiB;
  need.rises = {{1, need.total / 2}, {2, need.total}};
  outcome.outlook = fit::OutlookOf(outcome.processes, {1000 * kMiB});
  return outcome;
}

inline fit::Answer AnswerOf(fit::Outcome unlimited, fit::Outcome within) {
  fit::Answer answer;
  answer.cards = {"1000MiB"};
  answer.card_bytes = {1000 * kMiB};
  answer.unlimited = std::move(unlimited);
  answer.within = std::move(within);
  answer.has_within = true;
  return answer;
}

inline void RunOut(fit::Outcome& outcome) {
  outcome.completed = false;
  fit::ProcessNeed& process = outcome.processes[0];
  process.failed =
      fit::FailedLine{.line = "train.py:3", .bytes = 70 * kMiB, .short_by = kMiB, .at = {}};
  process.failures = 1;
}

// Returns the first paragraph, on one line.
inline std::string VerdictOf(const fit::Answer& answer) {
  const Document document = FitDocument(answer);
  return std::get<Paragraph>(document.at(0).parts.at(0)).text;
}

inline std::string AllOf(const fit::Answer& answer) {
  std::string text = TextOf(FitDocument(answer));
  for (char& letter : text)
    if (letter == '\n') letter = ' ';
  return text;
}

}  // namespace memtrace::report

#endif  // MEMTRACE_TESTS_TOOLS_REPORT_FIT_FIT_ANSWERS_H_
