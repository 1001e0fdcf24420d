// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/rows/exported_run.h"

#include "absl/strings/numbers.h"

namespace memtrace::interchange {
namespace {

int64_t NumberOr0(const std::string& text) {
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number) ? number : 0;
}

}  // namespace

Survey::Survey(const analysis::EventSource& events)
    : timeline_(events, 0), blocks_(events.best_evidence()) {
  events.ForEach([this](const trace::Event& event) {
    timeline_.Apply(event);
    blocks_.Apply(event);
  });
  blocks_.Finish();
}

std::vector<int32_t> CardsOf(const ExportedRun& run) {
  const auto& cards = run.survey.timeline().cards();
  std::vector<int32_t> numbers;
  numbers.reserve(cards.size());
  for (const auto& [device, card] : cards) numbers.push_back(device);
  return numbers;
}

int64_t RankOf(const ExportedRun& run) { return NumberOr0(run.facts.rank); }
int64_t ProcessOf(const ExportedRun& run) { return NumberOr0(run.facts.process); }

}  // namespace memtrace::interchange
