// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_ANSWER_H_
#define MEMTRACE_TOOLS_FIT_ANSWER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/run_facts.h"
#include "tools/fit/candidates.h"
#include "tools/fit/need.h"

namespace memtrace::fit {

// What came of a trial.
struct Outcome {
  bool completed = false;
  bool is_late = false;
  int exit_code = 0;
  std::vector<ProcessNeed> processes;              // that used a card
  std::map<std::string, std::string> annotations;  // of the first of them
  std::vector<analysis::HostRead> reads;           // of values that were not known
  std::string log_end;                             // if it neither completed nor ran out of memory
  double seconds = 0;

  // The first request of any process that failed; nothing if it completed all the same.
  std::optional<FailedLine> Failed() const;
};

struct TriedRemedy {
  std::vector<Candidate> changes;
  Outcome outcome;  // within the card
  bool had_effect = true;
};

struct Answer {
  std::vector<std::string> cards;    // as asked
  std::vector<uint64_t> card_bytes;  // of each card of them
  Outcome unlimited;
  Outcome within;
  std::vector<TriedRemedy> remedies;  // in the order tried
  std::optional<size_t> recommended;  // of `remedies`

  bool fits() const { return within.completed; }
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_ANSWER_H_
