// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/ranks/layouts.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/annotation.h"
#include "tools/fit/trials/card_limit.h"

namespace memtrace::fit {
namespace {

std::string NameOf(const std::vector<std::string>& options, const Layout& layout) {
  std::string name;
  for (size_t i = 0; i < options.size(); ++i)
    absl::StrAppend(&name, name.empty() ? "" : ", ", options[i], "=", layout.values[i]);
  return name;
}

bool IsStopped(const absl::Status& status) {
  return status.code() == absl::StatusCode::kCancelled ||
         status.code() == absl::StatusCode::kUnavailable;
}

CardNeed FullestOf(const Outcome& outcome) {
  CardNeed fullest;
  for (CardNeed& need : Joined(outcome.processes))
    if (need.total >= fullest.total) fullest = std::move(need);
  return fullest;
}

// True if the need is so far above the card that a run there is not needed to know. It is taken at
// a moment when libraries may hold more than they must, so it may be a little too high.
bool ExceedsByFar(const CardNeed& need, const std::vector<uint64_t>& card_bytes) {
  constexpr uint64_t kPercent = 105;
  const auto card = static_cast<size_t>(need.card);
  return card < card_bytes.size() && need.total > card_bytes[card] / 100 * kPercent;
}

// Returns what the rank that sends most sends in a step, and the arithmetic of the rank that
// computes most.
StepCost CostOfLayout(const Outcome& outcome) {
  const ProcessNeed* most = outcome.MostSending();
  StepCost cost = most != nullptr ? most->cost : outcome.cost();
  for (const ProcessNeed& process : outcome.processes)
    cost.product_operations = std::max(cost.product_operations, process.cost.product_operations);
  return cost;
}

// Returns the forward passes of the lowest rank in a step; 0 if they are not known.
uint64_t PassesOfStep(const Outcome& outcome) {
  if (outcome.processes.empty() || outcome.processes.front().steps == 0) return 0;
  const uint64_t calls =
      analysis::AnnotatedNumber(outcome.annotations, trace::fact::kForwardCalls).value_or(0);
  return calls / outcome.processes.front().steps;
}

LayoutVerdict VerdictOf(const Layout& layout) {
  switch (layout.outcome.verdict()) {
    case FitVerdict::kFits:
      return layout.job->HasEachKind() ? LayoutVerdict::kFits : LayoutVerdict::kNotKnown;
    case FitVerdict::kNotKnown:
      return LayoutVerdict::kNotKnown;
    case FitVerdict::kDoesNotFit:
    case FitVerdict::kWillNotFit:
      break;
  }
  return LayoutVerdict::kDoesNotFit;
}

// Returns what a layout costs, the most expensive first: the network, then the other cards of the
// machine, then arithmetic.
std::tuple<uint64_t, uint64_t, uint64_t> CostOf(const Layout& layout) {
  return {layout.cost.sent_bytes_network, layout.cost.sent_bytes, layout.cost.product_operations};
}

}  // namespace

std::vector<Gap> UnseenMoments(const LayoutAnswer& answer) {
  std::vector<Gap> gaps;
  for (const Layout& layout : answer.layouts)
    if (layout.verdict == LayoutVerdict::kFits && !layout.outcome.outlook.is_whole)
      AddGaps(layout.outcome.gaps, gaps);
  return gaps;
}

double Layout::IdleShare() const {
  if (!job || job->stages < 2 || passes == 0) return 0;
  const auto waits = static_cast<double>(job->stages - 1);
  return waits / (static_cast<double>(passes) + waits);
}

std::vector<std::vector<std::string>> Combinations(const std::vector<Variation>& options) {
  std::vector<std::vector<std::string>> all = {{}};
  for (const Variation& option : options) {
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& begun : all) {
      for (const std::string& value : option.values) {
        longer.push_back(begun);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

bool IsSize(const std::string& option) {
  static const std::set<std::string> kSizes = {"batch", "batchsize", "bs",     "bsz", "mbs",
                                               "seq",   "seqlen",    "length", "len", "tokens"};
  static const std::set<std::string> kParts = {
      "parallel",     "parallelism", "degree", "num",   "number", "n",     "count", "accum",
      "accumulation", "split",       "splits", "chunk", "chunks", "shard", "shards"};
  const std::vector<std::string> words =
      absl::StrSplit(absl::AsciiStrToLower(option), absl::ByAnyChar("-_. "));
  const auto has = [&words](const std::set<std::string>& of) {
    return std::any_of(words.begin(), words.end(),
                       [&of](const std::string& word) { return of.contains(word); });
  };
  return has(kSizes) && !has(kParts);
}

absl::Status LayoutSearch::Run() {
  answer_.cards = question_.trial.cards;
  answer_.card_bytes = CardBytesOf(question_.trial);
  answer_.margin_percent = question_.margin_percent;
  Trial smaller = question_.trial;
  MEMTRACE_ASSIGN_OR_RETURN(smaller.cards, WithMargin(smaller.cards, question_.margin_percent));
  with_margin_ = CardBytesOf(smaller);
  for (const Variation& option : question_.variations) answer_.options.push_back(option.name);
  std::vector<std::vector<std::string>> combinations = Combinations(question_.variations);
  answer_.untried = combinations.size();
  for (std::vector<std::string>& values : combinations) {
    Layout layout;
    layout.values = std::move(values);
    MEMTRACE_RETURN_IF_ERROR(Try(std::move(layout)));
    --answer_.untried;
  }
  Recommend();
  return absl::OkStatus();
}

absl::Status LayoutSearch::Try(Layout layout) {
  if (IsLargerThanOneThatFails(layout)) {
    layout.verdict = LayoutVerdict::kLargerThan;
    answer_.layouts.push_back(std::move(layout));
    return absl::OkStatus();
  }
  Trial trial = question_.trial;
  std::vector<Variation> options = question_.variations;
  for (size_t i = 0; i < options.size(); ++i) options[i].values = {layout.values[i]};
  trial.command = WithFirstValues(std::move(trial.command), options);
  absl::Status judged = Judge(std::move(trial), layout);
  if (IsStopped(judged)) return judged;
  if (!judged.ok()) {
    const bool is_late = judged.code() == absl::StatusCode::kDeadlineExceeded;
    layout.verdict = is_late ? LayoutVerdict::kNotKnown : LayoutVerdict::kFailed;
    layout.reason = is_late ? "" : why_();
    if (layout.reason.empty()) layout.reason = std::string(judged.message());
  }
  answer_.layouts.push_back(std::move(layout));
  return absl::OkStatus();
}

// Runs the layout without a limit, and on the card if that does not decide.
absl::Status LayoutSearch::Judge(Trial trial, Layout& layout) {
  if (trial.job->is_auto) {
    MEMTRACE_ASSIGN_OR_RETURN(trial.job, find_ranks_(trial));
  }
  layout.job = trial.job;
  MEMTRACE_ASSIGN_OR_RETURN(const Trial unlimited, Unlimited(trial));
  MEMTRACE_ASSIGN_OR_RETURN(layout.outcome, RunOf(unlimited, layout));
  // A peak that rises would fill the card, not what the run had.
  layout.outcome.outlook = OutlookOf(layout.outcome.processes, answer_.card_bytes);
  layout.fullest = FullestOf(layout.outcome);
  layout.cost = CostOfLayout(layout.outcome);
  layout.passes = PassesOfStep(layout.outcome);
  layout.verdict = VerdictOf(layout);
  if (ExceedsByFar(layout.fullest, answer_.card_bytes)) {
    layout.verdict = LayoutVerdict::kDoesNotFit;
  } else if (!IsBelow(layout.outcome, answer_.card_bytes)) {
    MEMTRACE_ASSIGN_OR_RETURN(layout.outcome, RunOf(ForSameSteps(trial, layout.outcome), layout));
    layout.verdict = VerdictOf(layout);
  }
  layout.has_margin = IsBelow(layout.outcome, with_margin_);
  return absl::OkStatus();
}

absl::StatusOr<Outcome> LayoutSearch::RunOf(const Trial& trial, const Layout& layout) const {
  MEMTRACE_ASSIGN_OR_RETURN(Outcome outcome, run_(trial, NameOf(answer_.options, layout)));
  if (!outcome.is_late) MEMTRACE_RETURN_IF_ERROR(CheckOutcomeIsUseful(outcome, trial));
  return outcome;
}

// True if a layout that differs only in sizes, none of which is larger, does not fit.
bool LayoutSearch::IsLargerThanOneThatFails(const Layout& layout) const {
  return std::any_of(answer_.layouts.begin(), answer_.layouts.end(), [&](const Layout& other) {
    if (other.verdict != LayoutVerdict::kDoesNotFit) return false;
    for (size_t i = 0; i < layout.values.size(); ++i) {
      double own = 0;
      double others = 0;
      const bool is_no_larger = IsSize(answer_.options[i]) &&
                                absl::SimpleAtod(layout.values[i], &own) &&
                                absl::SimpleAtod(other.values[i], &others) && others <= own;
      if (!is_no_larger && layout.values[i] != other.values[i]) return false;
    }
    return true;
  });
}

// A layout that leaves the margin comes first, then the one that sends least.
bool LayoutSearch::IsBetter(const Layout& a, const Layout& b) const {
  if (question_.margin_percent > 0 && a.has_margin != b.has_margin) return a.has_margin;
  return CostOf(a) < CostOf(b);
}

void LayoutSearch::Recommend() {
  for (size_t i = 0; i < answer_.layouts.size(); ++i) {
    const Layout& layout = answer_.layouts[i];
    if (layout.verdict != LayoutVerdict::kFits) continue;
    if (!answer_.recommended || IsBetter(layout, answer_.layouts[*answer_.recommended]))
      answer_.recommended = i;
  }
}

}  // namespace memtrace::fit
