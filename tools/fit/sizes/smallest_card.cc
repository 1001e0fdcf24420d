// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/sizes/smallest_card.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/units.h"
#include "interpose/simulated_card/spec/card_profile.h"
#include "messages/message.h"
#include "tools/fit/trials/card_limit.h"

namespace memtrace::fit {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// The least the program can run with, and what it takes without a limit, on the card that needs
// most.
struct Bounds {
  uint64_t lower = 0;
  uint64_t upper = 0;
};
Bounds BoundsOf(const Outcome& unlimited) {
  Bounds bounds;
  for (const CardNeed& need : Joined(unlimited.processes)) {
    bounds.lower = std::max(bounds.lower, need.total);
    bounds.upper = std::max(bounds.upper, AtMost(need));
  }
  return bounds;
}

class Bisection {
 public:
  Bisection(Trial trial, std::string allocator, const Runner& run)
      : trial_(std::move(trial)), run_(run) {
    found_.allocator = std::move(allocator);
  }

  absl::StatusOr<SmallestCard> Run() {
    MEMTRACE_ASSIGN_OR_RETURN(const Trial unlimited, Unlimited(trial_));
    MEMTRACE_ASSIGN_OR_RETURN(
        const Outcome outcome,
        run_(unlimited, Message("$0, without a limit", MessageOf(found_.allocator))));
    MEMTRACE_RETURN_IF_ERROR(CheckOutcomeIsUseful(outcome, unlimited));
    found_.seen.Add(outcome.outlook);
    const Bounds bounds = BoundsOf(outcome);
    MEMTRACE_RETURN_IF_ERROR(Halve(bounds));
    MEMTRACE_RETURN_IF_ERROR(FindSmallestProduct());
    return found_;
  }

 private:
  absl::Status Halve(const Bounds& bounds) {
    const uint64_t step = std::max(64 * kMiB, RoundUp(bounds.upper / 256, kMiB));
    uint64_t fails = (bounds.lower - 1) / step;  // in steps; below the least it can run with
    uint64_t completes = RoundUp(bounds.upper, step) / step;
    const uint64_t upper = completes;
    while (completes - fails > 1) {
      const uint64_t middle = fails + (completes - fails) / 2;
      MEMTRACE_ASSIGN_OR_RETURN(const bool completed, CompletesAt(middle * step));
      if (!completed) found_.fails = middle * step;
      (completed ? completes : fails) = middle;
    }
    // The answer is a size that was run, because a library's peak may coincide with torch's only on
    // a small card.
    while (completes >= upper) {
      MEMTRACE_ASSIGN_OR_RETURN(const bool completed, CompletesAt(completes * step));
      if (completed) break;
      found_.fails = completes * step;
      if (completes > 2 * upper)
        return absl::FailedPreconditionError(
            Message("the program fails on a card of $0 MiB, although without a limit it completes "
                    "with less than half of that",
                    completes * step / kMiB));
      completes += std::max<uint64_t>(upper / 16, 1);
    }
    found_.completes = completes * step;
    return absl::OkStatus();
  }

  absl::StatusOr<bool> CompletesAt(uint64_t bytes) {
    Trial trial = trial_;
    absl::StatusOr<std::vector<std::string>> cards = WithBytes(trial.cards, bytes);
    if (!cards.ok()) return cards.status();
    trial.cards = *std::move(cards);
    MEMTRACE_ASSIGN_OR_RETURN(
        const Outcome outcome,
        run_(trial, absl::StrCat(MessageOf(found_.allocator), ", ", bytes / kMiB, " MiB")));
    if (outcome.fits()) found_.seen.Add(outcome.outlook);
    return outcome.fits();
  }

  // Names the smallest product that is large enough. It is run, because its context differs.
  absl::Status FindSmallestProduct() {
    std::vector<const card::CardProfile*> products;
    for (const card::CardProfile& profile : card::CardProfiles())
      if (profile.bytes >= found_.completes) products.push_back(&profile);
    std::stable_sort(products.begin(), products.end(),
                     [](const auto* a, const auto* b) { return a->bytes < b->bytes; });
    constexpr size_t kMostTried = 3;
    for (size_t i = 0; i < std::min(kMostTried, products.size()); ++i) {
      Trial trial = trial_;
      trial.cards = OnProduct(trial_.cards, products[i]->name);
      MEMTRACE_ASSIGN_OR_RETURN(
          const Outcome outcome,
          run_(trial, MessageOf(found_.allocator) + ", " + std::string(products[i]->name)));
      if (!outcome.fits()) continue;
      found_.seen.Add(outcome.outlook);
      found_.product = products[i]->name;
      found_.product_bytes = products[i]->bytes;
      break;
    }
    return absl::OkStatus();
  }

  Trial trial_;
  const Runner& run_;
  SmallestCard found_;
};

}  // namespace

absl::StatusOr<std::vector<SmallestCard>> FindSmallestCards(const Question& question,
                                                            const Runner& run) {
  std::vector<std::pair<std::string, std::vector<Candidate>>> allocators = {{"native", {}}};
  for (const Candidate& candidate : AllCandidates()) {
    if (!candidate.settings.empty() || candidate.allocator != "native")
      allocators.emplace_back(candidate.settings.empty() ? candidate.allocator : candidate.name,
                              std::vector{candidate});
  }
  std::vector<SmallestCard> smallest;
  for (const auto& [name, changes] : allocators) {
    const Trial trial =
        WithChanges(question.trial, changes, question.user_settings, question.Options());
    MEMTRACE_ASSIGN_OR_RETURN(SmallestCard found, Bisection(trial, name, run).Run());
    smallest.push_back(std::move(found));
  }
  return smallest;
}

}  // namespace memtrace::fit
