// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/sizes/largest_value.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/fit/sizes/scaling.h"
#include "tools/fit/sizes/value_bounds.h"
#include "tools/fit/trials/card_limit.h"

namespace memtrace::fit {
namespace {

constexpr uint64_t kFactor = 4;         // between two values that are run without a limit
constexpr uint64_t kMost = 1 << 20;     // steps of the option; nothing beyond is tried
constexpr double kLeastGrowth = 1.001;  // of the need, from one such value to the next
constexpr int kMostWithoutGrowth = 5;   // such values in a row: the peak may be elsewhere at first

class LargestSearch {
 public:
  LargestSearch(const Question& question, const Runner& run)
      : question_(question), run_(run), trial_(question.trial), within_(question.trial) {
    found_.scaling.name = question.largest->name;
  }

  absl::StatusOr<LargestValue> Run() {
    MEMTRACE_RETURN_IF_ERROR(MeasureLeast());
    MEMTRACE_RETURN_IF_ERROR(MeasureLarger());
    MEMTRACE_RETURN_IF_ERROR(FindOnCard());
    Fit();
    return found_;
  }

 private:
  uint64_t Step() const { return question_.largest->step; }
  std::string NameAt(uint64_t value) const { return absl::StrCat(found_.scaling.name, "=", value); }

  Trial At(const Trial& trial, uint64_t value) const {
    Candidate candidate{.name = "", .change = "", .cost = ""};
    candidate.option = question_.largest->name;
    candidate.value = std::to_string(value);
    return WithChanges(trial, {candidate}, question_.user_settings, question_.Options());
  }

  absl::StatusOr<Outcome> RunWithoutLimit(const Trial& trial, uint64_t value) {
    MEMTRACE_ASSIGN_OR_RETURN(const Trial unlimited, Unlimited(At(trial, value)));
    return run_(unlimited, Message("$0, without a limit", NameAt(value)));
  }

  // Runs the least value, which tells how many steps the other runs need.
  absl::Status MeasureLeast() {
    MEMTRACE_ASSIGN_OR_RETURN(const Outcome least, RunWithoutLimit(question_.trial, Step()));
    MEMTRACE_RETURN_IF_ERROR(CheckCallsAreKnown(least, question_.trial));
    MEMTRACE_RETURN_IF_ERROR(CheckOutcomeIsUseful(least, question_.trial));
    within_ = ForSameSteps(question_.trial, least);
    trial_ = UntilAfterPeakOf(question_.trial, least);
    Note(Step(), least);
    return absl::OkStatus();
  }

  // Runs larger values until one needs more than the card, grows no more, or fails by itself.
  absl::Status MeasureLarger() {
    uint64_t value = Step();
    int without_growth = 0;
    while (without_growth < kMostWithoutGrowth && Largest() <= static_cast<double>(Card()) &&
           value / Step() <= kMost / kFactor) {
      const double before = Largest();
      value *= kFactor;
      MEMTRACE_ASSIGN_OR_RETURN(const Outcome outcome, RunWithoutLimit(trial_, value));
      if (!CheckOutcomeIsUseful(outcome, trial_).ok()) {
        fails_by_itself_ = value;
        break;
      }
      Note(value, outcome);
      without_growth = Largest() < kLeastGrowth * before ? without_growth + 1 : 0;
    }
    return absl::OkStatus();
  }

  void Note(uint64_t value, const Outcome& outcome) {
    CardNeed fullest;
    for (CardNeed& need : Joined(outcome.processes))
      if (need.total >= fullest.total) fullest = std::move(need);
    if (fullest.total + fullest.fragmentation <= Card()) fitting_.push_back(value);
    if (fullest.total > Card()) failing_.push_back(value);
    totals_.emplace_back(value, static_cast<double>(fullest.total));
    found_.scaling.points.push_back(
        {value, fullest.peak_allocated, fullest.total, fullest.peak_at.phase});
  }

  uint64_t Card() const {
    const std::vector<uint64_t> cards = BytesOfCards(question_.trial.cards);
    return *std::min_element(cards.begin(), cards.end());
  }

  double Largest() const { return totals_.back().second; }

  // Returns the number of steps at which a line through the last two needs meets the card; the
  // largest that was run if they do not grow.
  uint64_t Guess() const {
    const auto [last, need] = totals_.back();
    if (totals_.size() < 2) return 1;
    const auto [before, less] = totals_[totals_.size() - 2];
    const double slope = (need - less) / static_cast<double>(last - before);
    if (slope <= 0) return last / Step();
    const double meets = static_cast<double>(last) + (static_cast<double>(Card()) - need) / slope;
    return static_cast<uint64_t>(std::max(meets, 1.0)) / Step();
  }

  absl::Status FindOnCard() {
    const uint64_t most =
        fails_by_itself_ > 0 ? fails_by_itself_ / Step() : totals_.back().first / Step();
    ValueBounds bounds(Guess(), most);
    for (const uint64_t value : fitting_) bounds.ExpectToFit(value / Step());
    for (const uint64_t value : failing_) bounds.ExpectToFail(value / Step());
    while (true) {
      while (const std::optional<uint64_t> at = bounds.Next()) {
        std::vector<Trial> trials = {At(trial_, *at * Step())};
        if (const auto next = bounds.NextIfFits(*at)) trials.push_back(At(trial_, *next * Step()));
        run_.WillRun(trials);
        MEMTRACE_ASSIGN_OR_RETURN(const bool fits, FitsAt(trial_, *at * Step()));
        bounds.NoteRun(*at, fits);
      }
      run_.WillRun({});
      const std::optional<uint64_t> largest = bounds.largest();
      if (!largest) break;
      // It is watched as long as the least value was, for a later peak.
      MEMTRACE_ASSIGN_OR_RETURN(const bool survives, FitsAt(within_, *largest * Step()));
      if (survives) break;
      bounds.NoteRun(*largest, false);
      trial_ = within_;
    }
    Take(bounds);
    return absl::OkStatus();
  }

  absl::StatusOr<bool> FitsAt(const Trial& trial, uint64_t value) {
    MEMTRACE_ASSIGN_OR_RETURN(outcomes_[value], run_(At(trial, value), NameAt(value)));
    return outcomes_[value].fits();
  }

  void Take(const ValueBounds& bounds) {
    Scaling& scaling = found_.scaling;
    if (bounds.largest()) scaling.largest = *bounds.largest() * Step();
    if (bounds.fails()) scaling.fails = *bounds.fails() * Step();
    found_.outcome = outcomes_[scaling.largest.value_or(scaling.fails.value_or(Step()))];
    if (scaling.fails) found_.beyond = outcomes_[*scaling.fails];
  }

  // Lays a formula through the last needs whose peak is in the same phase.
  void Fit() {
    const std::vector<Scaling::Point>& points = found_.scaling.points;
    size_t first = points.size() - 1;
    while (first > 0 && points[first - 1].peak_phase == points.back().peak_phase) --first;
    if (points.size() > 1) first = std::min(first, points.size() - 2);
    const size_t middle = first + (points.size() - first) / 2;
    std::vector<std::pair<uint64_t, double>> through = {totals_[first]};
    if (middle > first && middle + 1 < points.size()) through.push_back(totals_[middle]);
    if (points.size() > first + 1) through.push_back(totals_.back());
    found_.scaling.holds_from = points[first].value;
    found_.scaling.needs = FormulaThrough(through);
  }

  const Question& question_;
  const Runner& run_;
  Trial trial_;   // until after the peak
  Trial within_;  // for as many steps as the least value was watched
  LargestValue found_;
  std::vector<std::pair<uint64_t, double>> totals_;  // needs without a limit, by value
  std::vector<uint64_t> fitting_;                    // values that are expected to fit the card
  std::vector<uint64_t> failing_;                    // and those that are not
  std::map<uint64_t, Outcome> outcomes_;             // on the card
  uint64_t fails_by_itself_ = 0;  // a value for a reason other than memory; 0: none
};

}  // namespace

absl::StatusOr<LargestOption> ParseLargest(std::string_view text) {
  const size_t equals = text.find('=');
  LargestOption option{.name = std::string(text.substr(0, equals)), .step = 1};
  const std::string step(equals == std::string_view::npos ? "1" : text.substr(equals + 1));
  if (!option.name.empty() && absl::SimpleAtoi(step, &option.step) && option.step > 0)
    return option;
  return absl::InvalidArgumentError(Message(
      "--largest: '$0' is not the name of an option; write it as batch, or as length=64 for "
      "multiples of 64",
      text));
}

absl::StatusOr<LargestValue> FindLargestValue(const Question& question, const Runner& run) {
  return LargestSearch(question, run).Run();
}

}  // namespace memtrace::fit
