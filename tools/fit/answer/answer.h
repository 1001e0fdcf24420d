// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_ANSWER_ANSWER_H_
#define MEMTRACE_TOOLS_FIT_ANSWER_ANSWER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/fit/answer/moment_needs.h"
#include "tools/fit/changes/candidates.h"
#include "tools/fit/changes/untried.h"
#include "tools/fit/files/file_layer.h"
#include "tools/fit/files/folder_watch.h"
#include "tools/fit/needs/gap.h"
#include "tools/fit/needs/need.h"
#include "tools/fit/needs/outlook.h"
#include "tools/fit/trials/kept_away.h"
#include "tools/launch/job_ranks.h"

namespace memtrace::fit {

enum class FitVerdict : uint8_t {
  kFits,        // no request failed, and no peak was still rising, in what was seen
  kDoesNotFit,  // memory ran out, or the program failed
  kWillNotFit,  // no request failed yet, but a peak rises and will fill its card
  kNotKnown,    // no request failed yet, and it cannot be told if one will
};

// Facts of a trace about the program that ran.
struct ProgramFacts {
  std::string script;          // the name of its file
  std::string script_version;  // a hash of its contents; empty: not known
  std::string torch;           // "2.11.0+cu130"
};

// The result of a trial.
struct Outcome {
  // True if it ended, or was stopped after enough steps, and no request failed that it did not
  // recover from.
  bool completed = false;
  bool is_late = false;
  // True if a moment would need more than its card has with all its batches, of which few ran.
  bool would_run_out = false;
  int exit_code = 0;
  std::vector<ProcessNeed> processes;     // that used a card
  analysis::Annotations annotations;      // of the first of them
  ProgramFacts program = {};              // that ran in it
  std::vector<analysis::HostRead> reads;  // of values that were not known
  std::vector<UntriedRemedy> edits = {};  // what a report of it names, and no run can try
  std::string log_end;                    // if it neither completed nor ran out of memory
  double seconds = 0;
  Outlook outlook = {};        // on the cards of the trial
  std::vector<Gap> gaps = {};  // moments that the program has and that this run did not see
  KeptAway kept_away = {};     // from the user's files
  // The run that resumed from its checkpoint, if there was one. If that ran out of memory, this run
  // has not completed either.
  std::vector<Outcome> resumed = {};

  // Says nothing of the gaps: it is about the steps that were seen.
  FitVerdict verdict() const;
  bool fits() const { return verdict() == FitVerdict::kFits; }

  // Returns the request that ended it, of any process; nothing if it completed.
  std::optional<FailedLine> Failed() const;
  // True if a request ended it because a peak, or what stays, had climbed until then.
  bool HasRunOut() const;

  // Returns the time of a step on this machine, measured if the first process did so.
  double seconds_a_step() const;

  // Returns the last failed request that a process recovered from, and how many there were.
  std::optional<FailedLine> LastRecoveredFailure() const;
  uint64_t times_got_over() const;

  // Returns the cost of a step of the first process, from its annotations; 0 if they have none.
  StepCost cost() const;
  // Returns the estimated time of a step of the slowest process; nothing if none is known.
  std::optional<StepTime> time() const;
  // Returns the process that sends the most bytes by NCCL in a step; null if none sends any.
  const ProcessNeed* MostSending() const;
};

struct TriedRemedy {
  std::vector<Candidate> changes;
  Outcome outcome;  // within the card
  bool had_effect = true;
  bool was_run = true;  // else the run for reference told that it has no effect
  // True if it also completed on a card smaller by the margin. Known only for those that might be
  // recommended.
  std::optional<bool> has_margin = {};
  // True if it ran only on a card smaller by the margin. If it failed there, it may fit the card.
  bool is_smaller_card = false;
};

// The plan of changes with which a step takes the least time, of all that keep a margin; numbers
// are places in Answer::remedies.
struct CheapestPlan {
  std::optional<size_t> plan;         // nothing: none keeps it
  std::vector<size_t> one_less = {};  // with one degree less of one change: none of these fits
  // The same for the card without a margin; nothing: not looked for.
  std::optional<size_t> without_margin = {};
  std::vector<size_t> one_less_without_margin = {};
  bool is_complete = true;  // else its runs were used up before all was tried
};

// The smallest card on which a program completes under an allocator; each size was run.
struct SmallestCard {
  std::string allocator;          // "native"
  LeastSeen seen;                 // of the runs in which it completes
  uint64_t completes = 0;         // bytes
  std::optional<uint64_t> fails;  // bytes; nothing: the largest that fails is below its need
  std::string product;            // the smallest known one on which it completes; empty: none
  uint64_t product_bytes = 0;
};

// The formula bytes = constant + linear x value + quadratic x value^2.
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

// The need as a function of an option of the script, on the card that needs most.
struct Scaling {
  struct Point {
    uint64_t value = 0;
    uint64_t peak_allocated = 0;
    uint64_t needs = 0;
    trace::Phase peak_phase = trace::Phase::kOther;
  };

  std::string name;
  std::vector<Point> points;  // each a run without a limit, by value
  uint64_t holds_from = 0;    // the first value after which the peak stays in the same phase
  NeedFormula needs;          // through the first, the middle and the last point from there on
  std::vector<NamedFormula> roles;  // the roles that grow, the most first
  std::vector<NamedFormula> sites;  // the same for lines and modules
  std::optional<uint64_t> largest;  // value that completed on the card; nothing: none did
  LeastSeen seen;                   // of the runs with values that completed on the card
  std::optional<uint64_t> fails;    // the next value tried, which did not
};

// The job with short loaders, in which its moments were made to happen.
struct WholeJob {
  Outcome unlimited;
  Outcome within;           // on the card
  bool has_within = false;  // else it was not run
  std::vector<MomentNeed> moments;
  // The moment in which the next value of --largest does not fit; nothing: it is not known.
  std::optional<MomentNeed> limited_by = {};
};

// The trial in which the search was stopped, as far as it came.
struct StoppedTrial {
  std::string name;  // "without a limit"
  Outcome outcome;
  bool is_late = false;  // at its time limit; else somebody stopped us
};

// The runs that were forked from a process which had imported the libraries of the program.
struct ForkUse {
  uint64_t runs = 0;
  std::string why_not;  // why none could be; empty: they could, or none was tried
};

// All results; with `stopped`, those found until then.
struct Answer {
  std::vector<std::string> cards;    // as given; empty: only the need was measured
  std::vector<uint64_t> card_bytes;  // bytes of each of these cards; of a job, by rank
  std::optional<launch::JobRanks> job;
  uint64_t margin_percent = 0;
  Outcome unlimited;
  Outcome within;                     // on the card
  bool has_within = false;            // else it was not run
  std::optional<bool> has_margin;     // of `within`
  std::optional<WholeJob> whole_job;  // of --whole-job
  std::vector<TriedRemedy> remedies;  // in the order tried
  // The unchanged program without a limit, for as many steps as the remedies; nothing: not run.
  std::optional<Outcome> reference;
  std::vector<TriedRemedy> measured;  // without a limit: remedies that did not fit
  std::vector<Candidate> useless;     // not run: they save memory only where there is enough
  std::optional<CheapestPlan> cheapest;
  std::vector<UntriedRemedy> untried;
  std::optional<size_t> recommended;  // of `remedies`
  std::vector<SmallestCard> smallest;
  std::vector<Scaling> scalings;
  std::optional<Outcome> beyond;  // of --largest: the run of the value after the largest that fits
  std::optional<StoppedTrial> stopped;
  ForkUse forks = {};
  FileKeeping keeping = {};    // of the user's files, in all runs
  FolderChanges changes = {};  // of the user's files meanwhile, where runs have no layer

  // Moments that the program has and that no run has seen, after which it may still fail.
  std::vector<Gap> gaps = {};

  // Both require has_within. What fits in the steps seen is not known to fit if it has gaps.
  FitVerdict verdict() const;
  bool fits() const { return verdict() == FitVerdict::kFits; }

  // The run on the card that decides: that of the whole job, unless the usual steps do not fit.
  const Outcome& deciding() const;

  bool has_need() const { return !unlimited.processes.empty(); }

  // True if a cheapest plan fits, with the margin or without it.
  bool has_plan() const { return cheapest && (cheapest->plan || cheapest->without_margin); }

  // False if ranks of the job may need more than all that ran: not each kind of rank did.
  bool is_about_all_ranks() const { return !job || job->HasEachKind(); }

  // The run whose need is shown: the one without a limit; but the one on the card, if that fits and
  // was continued, or fits although without a limit the program takes more than the card has (a
  // library's larger workspace).
  const Outcome& told() const;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_ANSWER_ANSWER_H_
