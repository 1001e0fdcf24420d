// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/moments.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>
#include <variant>

#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/replayed/timeline.h"

namespace memtrace::fit {
namespace {

using analysis::Explanation;
using nlohmann::json;

template <typename T>
T ValueOf(const json& known, const char* key, T without) {
  const auto found = known.find(key);
  const bool is_there = found != known.end() && (found->is_number_unsigned() || found->is_string());
  if (!is_there || found->is_string() != std::is_same_v<T, std::string>) return without;
  return found->get<T>();
}

// Returns nothing usable (an empty moment) for a row that is malformed.
MomentStay StayOf(const json& row) {
  constexpr size_t kLeast = 3;
  MomentStay stay;
  const bool is_row = row.is_array() && row.size() >= kLeast && row[0].is_string() &&
                      row[1].is_number_unsigned() && row[2].is_number_unsigned();
  if (!is_row) return stay;
  stay.moment = row[0].get<std::string>();
  stay.first = row[1].get<uint64_t>();
  stay.last = std::max(stay.first, row[2].get<uint64_t>());
  if (row.size() == kLeast || !row[kLeast].is_object()) return stay;
  const json& known = row[kLeast];
  stay.ended_by = ValueOf<std::string>(known, "ended_by", "");
  stay.failed_by_itself = ValueOf<std::string>(known, "failed_by_itself", "");
  stay.size = ValueOf<std::string>(known, "size", "");
  stay.batches = ValueOf<uint64_t>(known, "batches", 0);
  stay.of = ValueOf<uint64_t>(known, "of", 0);
  stay.growth = ValueOf<uint64_t>(known, "growth", 0);
  return stay;
}

// The step of each card, by its number, in which most was in use.
using FullestSteps = std::map<int32_t, uint64_t>;

// Finds, for each stay, in which of its steps each card is fullest. A step belongs to the innermost
// stay only: an evaluation at the end is no need of the end.
class StepSearch {
 public:
  StepSearch(const analysis::EventSource& source, const std::vector<MomentStay>& stays)
      : stays_(stays), fullest_(stays.size()), most_(stays.size()), timeline_(source, 0) {
    source.ForEach([this](const trace::Event& event) { See(event); });
  }

  const FullestSteps& Of(size_t stay) const { return fullest_[stay]; }

 private:
  void See(const trace::Event& event) {
    timeline_.Apply(event);
    if (const auto* step = std::get_if<trace::Step>(&event.payload)) {
      step_ = step->number;
      stay_ = StayAt(stays_, step_);
    }
    if (stay_ < 0) return;
    const auto stay = static_cast<size_t>(stay_);
    for (const auto& [card, level] : timeline_.cards()) {
      const auto [most, is_new] = most_[stay].try_emplace(card, 0);
      if (!is_new && level.live_requested <= most->second) continue;
      most->second = level.live_requested;
      fullest_[stay][card] = step_;
    }
  }

  const std::vector<MomentStay>& stays_;
  std::vector<FullestSteps> fullest_;
  std::vector<std::map<int32_t, uint64_t>> most_;
  analysis::Timeline timeline_;
  uint64_t step_ = 0;
  int64_t stay_ = -1;  // the innermost that has the step
};

uint64_t NeedOf(const analysis::Ledger& ledger) {
  using analysis::LedgerPart;
  uint64_t bytes = 0;
  for (const LedgerPart part : {LedgerPart::kLive, LedgerPart::kRounding, LedgerPart::kContext,
                                LedgerPart::kOutsideAllocator, LedgerPart::kOtherProcesses})
    bytes += ledger.positive(part);
  return bytes;
}

// Returns the holder with the most bytes that were made in the stay; if these are few, with the
// most bytes of all.
Holder HolderOf(const analysis::Breakdown& held, const MomentStay& stay) {
  constexpr uint64_t kFew = 20;  // a twentieth
  HolderSums made;
  HolderSums all;
  for (const analysis::Holding& holding : held.holdings) {
    const std::string_view role = RoleName(holding.role);
    all.Add(role, holding.site, holding.bytes);
    if (holding.since.step >= stay.first) made.Add(role, holding.site, holding.bytes);
  }
  Holder largest = made.Largest();
  // A few batches have kept little yet.
  const bool is_few = stay.growth == 0 && largest.bytes < held.bytes / kFew;
  return is_few || largest.places == 0 ? all.Largest() : largest;
}

// Returns nothing usable (a need of 0) if the card held nothing.
MomentPeak PeakOf(const analysis::EventSource& source, const MomentStay& stay, int32_t card,
                  uint64_t step) {
  MomentPeak peak{.stay = stay, .card = card};
  const auto explained = analysis::Explain(
      source, {.kind = analysis::MomentSpec::Kind::kPeakOfStep, .number = step, .card = card});
  if (!explained.ok()) return peak;
  for (const analysis::CardExplanation& of : explained->cards)
    if (of.index == card) peak.needs = NeedOf(of.ledger);
  if (explained->card_of_verdict().index == card)
    peak.holder = HolderOf(explained->holders.held, stay);
  return peak;
}

}  // namespace

uint64_t UnseenBytes(const MomentStay& stay) {
  return stay.of > stay.batches ? (stay.of - stay.batches) * stay.growth : 0;
}

std::vector<MomentStay> MomentStaysOf(std::string_view text) {
  const json list = json::parse(text, nullptr, false);
  std::vector<MomentStay> stays;
  for (const json& row : list.is_array() ? list : json::array())
    if (MomentStay stay = StayOf(row); !stay.moment.empty()) stays.push_back(std::move(stay));
  return stays;
}

std::vector<MomentPeak> MomentPeaksOf(const analysis::EventSource& source,
                                      const Explanation& explanation) {
  const std::vector<MomentStay> stays =
      MomentStaysOf(analysis::AnnotatedText(explanation.run.annotations, trace::fact::kFitMoments));
  std::vector<MomentPeak> peaks;
  if (stays.empty()) return peaks;
  const StepSearch steps(source, stays);
  std::map<std::pair<int32_t, uint64_t>, MomentPeak> found;  // by card and step
  for (size_t i = 0; i < stays.size(); ++i) {
    for (const auto& [card, step] : steps.Of(i)) {
      const auto [known, is_new] = found.try_emplace({card, step});
      if (is_new || known->second.stay.first != stays[i].first)
        known->second = PeakOf(source, stays[i], card, step);
      MomentPeak peak = known->second;
      peak.stay = stays[i];
      if (peak.needs > 0) peaks.push_back(std::move(peak));
    }
  }
  return peaks;
}

int64_t StayAt(const std::vector<MomentStay>& stays, uint64_t step) {
  int64_t found = -1;
  for (size_t i = 0; i < stays.size(); ++i) {
    const bool is_inner = found < 0 || stays[i].first >= stays[static_cast<size_t>(found)].first;
    if (stays[i].Has(step) && is_inner) found = static_cast<int64_t>(i);
  }
  return found;
}

}  // namespace memtrace::fit
