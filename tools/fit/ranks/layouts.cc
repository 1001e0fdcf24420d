// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/ranks/layouts.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/fit/card_limit.h"

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

bool FailsByItself(const Outcome& outcome) {
  return !outcome.completed && !outcome.is_late && !outcome.Failed();
}

CardNeed FullestOf(const Outcome& outcome) {
  CardNeed fullest;
  for (CardNeed& need : Joined(outcome.processes))
    if (need.total >= fullest.total) fullest = std::move(need);
  return fullest;
}

bool Exceeds(const CardNeed& need, const std::vector<uint64_t>& card_bytes) {
  const auto card = static_cast<size_t>(need.card);
  return card < card_bytes.size() && need.total > card_bytes[card];
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
  constexpr std::array<std::string_view, 5> kWords = {"batch", "seq", "length", "tokens",
                                                      "context"};
  const std::string name = absl::AsciiStrToLower(option);
  return std::any_of(kWords.begin(), kWords.end(), [&name](std::string_view word) {
    return name.find(word) != std::string::npos;
  });
}

absl::Status LayoutSearch::Run() {
  answer_.cards = question_.trial.cards;
  answer_.card_bytes = CardBytesOf(question_.trial);
  answer_.margin_percent = question_.margin_percent;
  for (const Variation& option : question_.variations) answer_.options.push_back(option.name);
  for (std::vector<std::string>& values : Combinations(question_.variations)) {
    Layout layout;
    layout.values = std::move(values);
    MEMTRACE_RETURN_IF_ERROR(Try(std::move(layout)));
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
  const absl::Status judged = Judge(std::move(trial), layout);
  if (IsStopped(judged)) return judged;
  if (!judged.ok()) {
    layout.verdict = LayoutVerdict::kFailed;
    layout.reason = why_();
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
  layout.fullest = FullestOf(layout.outcome);
  if (const ProcessNeed* most = layout.outcome.MostSending()) layout.cost = most->cost;
  layout.verdict = VerdictOf(layout);
  if (Exceeds(layout.fullest, answer_.card_bytes)) {
    layout.verdict = LayoutVerdict::kDoesNotFit;
  } else if (!IsBelow(layout.outcome, answer_.card_bytes)) {
    MEMTRACE_ASSIGN_OR_RETURN(layout.outcome, RunOf(ForSameSteps(trial, layout.outcome), layout));
    layout.verdict = VerdictOf(layout);
  }
  return absl::OkStatus();
}

absl::StatusOr<Outcome> LayoutSearch::RunOf(const Trial& trial, const Layout& layout) const {
  MEMTRACE_ASSIGN_OR_RETURN(Outcome outcome, run_(trial, NameOf(answer_.options, layout)));
  if (FailsByItself(outcome)) MEMTRACE_RETURN_IF_ERROR(CheckOutcomeIsUseful(outcome, trial));
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
void LayoutSearch::Recommend() {
  const auto has_margin = [this](const Layout& layout) {
    const auto card = static_cast<size_t>(layout.fullest.card);
    const uint64_t bytes = card < answer_.card_bytes.size() ? answer_.card_bytes[card] : 0;
    return layout.fullest.total + layout.fullest.fragmentation <=
           bytes / 100 * (100 - answer_.margin_percent);
  };
  const auto is_better = [&](const Layout& a, const Layout& b) {
    if (has_margin(a) != has_margin(b)) return has_margin(a);
    return CostOf(a) < CostOf(b);
  };
  for (size_t i = 0; i < answer_.layouts.size(); ++i) {
    const Layout& layout = answer_.layouts[i];
    if (layout.verdict != LayoutVerdict::kFits) continue;
    if (answer_.recommended && !is_better(layout, answer_.layouts[*answer_.recommended])) continue;
    answer_.recommended = i;
    answer_.has_margin = has_margin(layout);
  }
}

}  // namespace memtrace::fit
