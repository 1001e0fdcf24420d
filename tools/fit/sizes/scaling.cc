// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/sizes/scaling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/fit/sizes/value_bounds.h"
#include "tools/fit/trials/card_limit.h"

namespace memtrace::fit {
namespace {

constexpr size_t kMostGrowths = 8;       // the most that are shown
constexpr uint64_t kFarthest = 1 << 10;  // times the largest given value: the last one to try

// Returns the need of the card that needs most, which may be another card for another outcome.
CardNeed Fullest(const Outcome& outcome) {
  CardNeed fullest;
  for (CardNeed& need : Joined(outcome.processes))
    if (need.total >= fullest.total) fullest = std::move(need);
  return fullest;
}

// Returns the first, the middle and the last.
template <typename Value>
std::vector<Value> FirstMiddleAndLast(const std::vector<Value>& of) {
  if (of.size() <= 3) return of;
  return {of.front(), of[of.size() / 2], of.back()};
}

// Returns the first index from which on the peak is in the same phase as at the last value. A peak
// that moves to another phase follows another formula from there on. At least the last two count,
// because one point gives no formula.
size_t FirstOfLastPhase(const std::vector<CardNeed>& needs) {
  size_t first = needs.size() - 1;
  while (first > 0 && needs[first - 1].peak_at.phase == needs.back().peak_at.phase) --first;
  return std::min(first, needs.size() - 2);
}

// Returns the parts that grow between the first and the last value, the most first.
std::vector<NamedFormula> GrowthsOf(const std::vector<uint64_t>& values,
                                    const std::vector<CardNeed>& needs,
                                    std::vector<NeedPart> CardNeed::*parts) {
  std::map<std::string, std::map<uint64_t, double>> bytes;
  for (size_t i = 0; i < values.size(); ++i)
    for (const NeedPart& part : needs[i].*parts)
      bytes[part.name][values[i]] += static_cast<double>(part.bytes);
  std::vector<NamedFormula> growths;
  for (const auto& [name, by_value] : bytes) {
    std::vector<std::pair<uint64_t, double>> points;
    for (const uint64_t value : FirstMiddleAndLast(values)) {
      const auto found = by_value.find(value);
      points.emplace_back(value, found == by_value.end() ? 0 : found->second);
    }
    if (points.back().second > points.front().second)
      growths.push_back({name, FormulaThrough(points)});
  }
  const auto grown = [&values](const NamedFormula& of) {
    return of.growth.At(static_cast<double>(values.back())) - of.growth.constant;
  };
  std::stable_sort(
      growths.begin(), growths.end(),
      [&grown](const NamedFormula& a, const NamedFormula& b) { return grown(a) > grown(b); });
  if (growths.size() > kMostGrowths) growths.resize(kMostGrowths);
  return growths;
}

class ValueSearch {
 public:
  ValueSearch(const Question& question, const Variation& variation, const Runner& run)
      : question_(question), variation_(variation), run_(run) {}

  absl::StatusOr<Scaling> Run() {
    MEMTRACE_ASSIGN_OR_RETURN(const std::vector<uint64_t> values, ValuesOf(variation_));
    scaling_.name = variation_.name;
    MEMTRACE_RETURN_IF_ERROR(Measure(values));
    if (question_.asks_card) {
      if (absl::Status found = FindLargest(values); !found.ok()) return found;
    }
    return scaling_;
  }

 private:
  Trial TrialAt(uint64_t value) const {
    Candidate candidate{.name = "", .change = "", .cost = ""};
    candidate.option = variation_.name;
    candidate.value = std::to_string(value);
    return WithChanges(question_.trial, {candidate}, question_.user_settings, question_.Options());
  }
  std::string NameAt(uint64_t value) const { return absl::StrCat(variation_.name, "=", value); }

  absl::Status Measure(const std::vector<uint64_t>& values) {
    std::vector<CardNeed> needs;
    std::vector<std::pair<uint64_t, double>> totals;
    std::vector<Trial> trials;
    for (const uint64_t value : values) {
      MEMTRACE_ASSIGN_OR_RETURN(Trial trial, Unlimited(TrialAt(value)));
      trials.push_back(std::move(trial));
    }
    run_.WillRun(trials);
    for (size_t i = 0; i < values.size(); ++i) {
      const uint64_t value = values[i];
      MEMTRACE_ASSIGN_OR_RETURN(const Outcome outcome,
                                run_(trials[i], Message("$0, without a limit", NameAt(value))));
      MEMTRACE_RETURN_IF_ERROR(CheckOutcomeIsUseful(outcome, trials[i]));
      needs.push_back(Fullest(outcome));
      Expect(value, needs.back());
      totals.emplace_back(value, static_cast<double>(needs.back().total));
      scaling_.points.push_back(
          {value, needs.back().peak_allocated, needs.back().total, needs.back().peak_at.phase});
    }
    const auto first = static_cast<ptrdiff_t>(FirstOfLastPhase(needs));
    scaling_.holds_from = values[static_cast<size_t>(first)];
    const std::vector<uint64_t> last_values(values.begin() + first, values.end());
    needs.erase(needs.begin(), needs.begin() + first);
    totals.erase(totals.begin(), totals.begin() + first);
    scaling_.needs = FormulaThrough(FirstMiddleAndLast(totals));
    scaling_.roles = GrowthsOf(last_values, needs, &CardNeed::parts);
    scaling_.sites = GrowthsOf(last_values, needs, &CardNeed::sites);
    return absl::OkStatus();
  }

  // Bisects between the largest value that fits and the smallest that does not, in steps.
  absl::Status FindLargest(const std::vector<uint64_t>& values) {
    const uint64_t step = std::reduce(values.begin(), values.end(), values.front(),
                                      [](uint64_t a, uint64_t b) { return std::gcd(a, b); });
    ValueBounds bounds(Predicted(step), kFarthest * (values.back() / step));
    for (const uint64_t value : fitting_) bounds.ExpectToFit(value / step);
    for (const uint64_t value : failing_) bounds.ExpectToFail(value / step);
    while (const std::optional<uint64_t> at = bounds.Next()) {
      std::vector<Trial> trials = {TrialAt(*at * step)};
      if (const auto next = bounds.NextIfFits(*at)) trials.push_back(TrialAt(*next * step));
      run_.WillRun(trials);
      MEMTRACE_ASSIGN_OR_RETURN(const bool fits, FitsAt(*at * step));
      bounds.NoteRun(*at, fits);
    }
    run_.WillRun({});
    if (bounds.largest()) scaling_.largest = *bounds.largest() * step;
    if (bounds.fails()) scaling_.fails = *bounds.fails() * step;
    return absl::OkStatus();
  }

  // Notes what the need without a limit makes likely on the card.
  void Expect(uint64_t value, const CardNeed& need) {
    if (!question_.asks_card) return;
    if (need.total + need.fragmentation <= SmallestCard()) fitting_.push_back(value);
    if (need.total > SmallestCard()) failing_.push_back(value);
  }

  uint64_t SmallestCard() const {
    const std::vector<uint64_t> cards = BytesOfCards(question_.trial.cards);
    return *std::min_element(cards.begin(), cards.end());
  }

  // Returns the largest number of steps that the formula puts within the card; at least 1.
  uint64_t Predicted(uint64_t step) const {
    const auto limit = static_cast<double>(SmallestCard());
    constexpr uint64_t kMostSteps = uint64_t{1} << 24;
    uint64_t low = 1;
    uint64_t high = kMostSteps;
    while (high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      const bool is_below = scaling_.needs.At(static_cast<double>(middle * step)) <= limit;
      (is_below ? low : high) = middle;
    }
    return low;
  }

  absl::StatusOr<bool> FitsAt(uint64_t value) {
    MEMTRACE_ASSIGN_OR_RETURN(const Outcome outcome, run_(TrialAt(value), NameAt(value)));
    if (outcome.fits()) scaling_.seen.Add(outcome.outlook);
    return outcome.fits();
  }

  const Question& question_;
  const Variation& variation_;
  const Runner& run_;
  Scaling scaling_;
  std::vector<uint64_t> fitting_;  // values that are expected to fit the card
  std::vector<uint64_t> failing_;  // and those that are not
};

}  // namespace

absl::StatusOr<std::vector<uint64_t>> ValuesOf(const Variation& variation) {
  std::vector<uint64_t> numbers;
  for (const std::string& text : variation.values) {
    uint64_t number = 0;
    if (!absl::SimpleAtoi(text, &number) || number == 0)
      return absl::InvalidArgumentError(
          absl::StrCat("--scale: '", text, "' of ", variation.name, " is not a number from 1 on"));
    numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() >= 2) return numbers;
  return absl::InvalidArgumentError("--scale: " + variation.name +
                                    " has one value; to see growth, give two or three");
}

NeedFormula FormulaThrough(const std::vector<std::pair<uint64_t, double>>& points) {
  NeedFormula growth;
  if (points.empty()) return growth;
  const auto x = [&points](size_t i) { return static_cast<double>(points[i].first); };
  const auto slope = [&points, &x](size_t a, size_t b) {
    return (points[b].second - points[a].second) / (x(b) - x(a));
  };
  if (points.size() >= 3) growth.quadratic = (slope(1, 2) - slope(0, 1)) / (x(2) - x(0));
  if (points.size() >= 2) growth.linear = slope(0, 1) - growth.quadratic * (x(0) + x(1));
  growth.constant = points[0].second - (growth.linear + growth.quadratic * x(0)) * x(0);
  return growth;
}

absl::StatusOr<Scaling> FindScaling(const Question& question, const Variation& variation,
                                    const Runner& run) {
  return ValueSearch(question, variation, run).Run();
}

}  // namespace memtrace::fit
