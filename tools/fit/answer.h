// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_ANSWER_H_
#define MEMTRACE_TOOLS_FIT_ANSWER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/fit/candidates.h"
#include "tools/fit/files/file_layer.h"
#include "tools/fit/files/folder_watch.h"
#include "tools/fit/kept_away.h"
#include "tools/fit/need.h"
#include "tools/fit/outlook.h"

namespace memtrace::fit {

enum class FitVerdict : uint8_t {
  kFits,        // nothing ran out of memory in what was seen, and no peak was still rising
  kDoesNotFit,  // memory ran out, or the program failed
  kWillNotFit,  // nothing ran out yet, but a peak rises and will meet the end of its card
  kNotKnown,    // nothing ran out yet, and it cannot be told whether it will
};

// What came of a trial.
struct Outcome {
  // It came to its end, or as far as it was let, and no request failed that it did not get over.
  bool completed = false;
  bool is_late = false;
  int exit_code = 0;
  std::vector<ProcessNeed> processes;     // that used a card
  analysis::Annotations annotations;      // of the first of them
  std::vector<analysis::HostRead> reads;  // of values that were not known
  std::string log_end;                    // if it neither completed nor ran out of memory
  double seconds = 0;
  Outlook outlook = {};     // on the cards of the trial
  KeptAway kept_away = {};  // from the user's files

  FitVerdict verdict() const;
  bool fits() const { return verdict() == FitVerdict::kFits; }

  // The request that ended it, of any process; nothing if it completed.
  std::optional<FailedLine> Failed() const;

  // The last request that failed and was got over, of any process, and how many there were.
  std::optional<FailedLine> GotOver() const;
  uint64_t times_got_over() const;

  // Per step of the first process, as its annotations say; 0 if they do not.
  StepCost cost() const;
};

struct TriedRemedy {
  std::vector<Candidate> changes;
  Outcome outcome;  // within the card
  bool had_effect = true;
  // Whether it completed on a smaller card, too: one without the margin. Asked of those alone that
  // might be recommended.
  std::optional<bool> has_margin = {};
};

// The smallest card on which a program completes under an allocator; each size was run.
struct SmallestCard {
  std::string allocator;          // "native"
  uint64_t completes = 0;         // bytes
  std::optional<uint64_t> fails;  // bytes; nothing: less than what it cannot do without
  std::string product;            // the smallest known one on which it completes; empty: none
  uint64_t product_bytes = 0;
};

// bytes = constant + linear x value + quadratic x value^2
struct NeedFormula {
  double constant = 0;
  double linear = 0;
  double quadratic = 0;

  double At(double value) const { return constant + (linear + quadratic * value) * value; }
};

struct NamedFormula {
  std::string name;
  NeedFormula growth;
};

// How the need grows with an option of the script, on the card that needs most.
struct Scaling {
  struct Point {
    uint64_t value = 0;
    uint64_t peak_allocated = 0;
    uint64_t needs = 0;
    trace::Phase peak_phase = trace::Phase::kOther;
  };

  std::string name;
  std::vector<Point> points;        // each a run without a limit, by value
  uint64_t holds_from = 0;          // the formulas: from here on the peak is in the same phase
  NeedFormula needs;                // through the first, the middle and the last from there on
  std::vector<NamedFormula> roles;  // those that grow, the most first
  std::vector<NamedFormula> sites;  // the same of lines and modules
  std::optional<uint64_t> largest;  // value that completed on the card; nothing: none did
  std::optional<uint64_t> fails;    // the next one tried, that did not
};

// The trial in which the search was stopped, as far as that came.
struct StoppedTrial {
  std::string name;  // "without a limit"
  Outcome outcome;
  bool is_late = false;  // at its limit of time; else somebody stopped us
};

// All that was found; with `stopped`, found until then.
struct Answer {
  std::vector<std::string> cards;    // as asked; empty: only the need was
  std::vector<uint64_t> card_bytes;  // of each card of them
  uint64_t margin_percent = 0;
  Outcome unlimited;
  Outcome within;                     // on the card
  bool has_within = false;            // else it was not run
  std::optional<bool> has_margin;     // of `within`
  std::vector<TriedRemedy> remedies;  // in the order tried
  std::optional<size_t> recommended;  // of `remedies`
  std::vector<SmallestCard> smallest;
  std::vector<Scaling> scalings;
  std::optional<StoppedTrial> stopped;
  FileKeeping keeping = {};    // of the user's files, in all runs
  FolderChanges changes = {};  // of the user's files meanwhile, where runs have no layer

  // REQUIRES: has_within, for all of these.
  FitVerdict verdict() const { return within.verdict(); }
  bool fits() const { return within.fits(); }

  bool has_need() const { return !unlimited.processes.empty(); }

  // The run whose need is told: without a limit; on the card, if that fits although the program
  // would take more than the card has where there is more (a library's larger workspace).
  const Outcome& told() const;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_ANSWER_H_
