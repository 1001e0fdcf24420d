// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/need.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::fit {
namespace {

using analysis::CardExplanation;
using analysis::CardTimeline;
using analysis::Explanation;

// The roles in the order in which a reader thinks of them, with their words.
constexpr std::pair<trace::Role, std::string_view> kRoles[] = {
    {trace::Role::kParameter, Marked("parameters")},
    {trace::Role::kBuffer, Marked("buffers")},
    {trace::Role::kGradient, Marked("gradients")},
    {trace::Role::kOptimizerState, Marked("optimizer states")},
    {trace::Role::kActivation, Marked("activations")},
    {trace::Role::kTemporary, Marked("temporaries")},
    {trace::Role::kInput, Marked("inputs")},
    {trace::Role::kKvCache, Marked("KV cache")},
    {trace::Role::kCheckpoint, Marked("loaded checkpoint")},
    {trace::Role::kWorkspace, Marked("workspaces")},
    {trace::Role::kComm, Marked("communication")},
    {trace::Role::kUnknown, Marked("of unknown role")},
};

constexpr std::string_view kOthers = Marked("other processes");

class PartList {
 public:
  void Add(std::string_view name, uint64_t bytes) {
    if (bytes > 0) parts_.push_back({std::string(name), bytes});
    sum_ += bytes;
  }
  uint64_t sum() const { return sum_; }
  std::vector<NeedPart> Take() { return std::move(parts_); }

 private:
  std::vector<NeedPart> parts_;
  uint64_t sum_ = 0;
};

void SetOthers(uint64_t bytes, CardNeed& need) {
  const auto is_others = [](const NeedPart& part) { return part.name == kOthers; };
  for (const NeedPart& part : need.parts)
    if (is_others(part)) need.total -= part.bytes;
  need.parts.erase(std::remove_if(need.parts.begin(), need.parts.end(), is_others),
                   need.parts.end());
  if (bytes > 0) need.parts.push_back({std::string(kOthers), bytes});
  need.total += bytes;
}

CardNeed NeedOfCard(const CardExplanation& card, const CardTimeline& timeline,
                    const analysis::Annotations& annotations) {
  CardNeed need{.card = card.index,
                .peak_allocated = timeline.most_allocated,
                .phase_peaks = timeline.most_allocated_in,
                .peak_reserved = std::max(timeline.most_reserved, timeline.most_allocated),
                .peak_at = card.peak_at,
                .parts = {},
                .total = 0,
                .fragmentation = 0,
                .sites = {}};
  PartList parts;
  const analysis::SecondModels& second = card.second_models;
  for (const auto& [role, name] : kRoles) {
    uint64_t bytes = BytesOfRole(card.peak, role);
    if (role == trace::Role::kParameter) bytes -= second.parameters;
    if (role == trace::Role::kBuffer) bytes -= second.buffers;
    if (role == trace::Role::kActivation) bytes -= card.logits.activations;
    if (role == trace::Role::kTemporary) bytes -= card.logits.temporaries;
    parts.Add(name, bytes);
    if (role == trace::Role::kBuffer)
      parts.Add(Marked("second models"), second.parameters + second.buffers);
    if (role == trace::Role::kActivation) parts.Add(kLogits, card.logits.bytes());
  }
  need.rises = RisesOf(analysis::AnnotatedText(annotations, trace::fact::kFitRises), card.index);
  need.floors = FloorsOf(analysis::AnnotatedText(annotations, trace::fact::kFitFloors), card.index);
  const uint64_t requested = parts.sum();
  parts.Add(Marked("rounding"), need.peak_allocated - std::min(need.peak_allocated, requested));
  need.fragmentation = need.peak_reserved - std::min(need.peak_reserved, parts.sum());
  using analysis::LedgerPart;
  const uint64_t context = card.ledger.positive(LedgerPart::kContext);
  const uint64_t outside = card.ledger.positive(LedgerPart::kOutsideAllocator);
  parts.Add(Marked("context"), context);
  parts.Add(Marked("outside torch"), outside);
  need.more_beside = timeline.most_beside - std::min(timeline.most_beside, context + outside);
  parts.Add(kOthers, card.ledger.positive(LedgerPart::kOtherProcesses));
  need.total = parts.sum();
  need.parts = parts.Take();
  for (const analysis::Holding& holding : card.peak.holdings)
    need.sites.push_back(
        {std::string(RoleName(holding.role)) + ", " + holding.site, holding.bytes});
  return need;
}

// Returns the request that ended the run, else the last one that it recovered from.
std::optional<FailedLine> FailedLineOf(const Explanation& explanation) {
  const auto& failed =
      explanation.failure.request ? explanation.failure.request : explanation.failure.got_over;
  if (!failed) return std::nullopt;
  const analysis::ExplainedRequest& request = *failed;
  return FailedLine{
      .line = PlaceOf(request),
      .bytes = request.bytes,
      .short_by = request.bytes - std::min(request.bytes, request.obtainable),
      .at = request.at,
      .is_fragmentation = explanation.failure.verdict.cause == analysis::Cause::kFragmentation};
}

TrialEnd EndOf(const Explanation& explanation) {
  const auto ended = explanation.run.annotations.find(trace::fact::kFitEnded);
  if (ended == explanation.run.annotations.end()) return TrialEnd::kProgram;
  return ended->second == "settled" ? TrialEnd::kSettled : TrialEnd::kSteps;
}

// Returns the steps that ended: as the process states, else all that began but the last.
uint64_t StepsOf(const Explanation& explanation) {
  const auto stated = explanation.run.annotations.find(trace::fact::kFitSteps);
  uint64_t steps = 0;
  if (stated != explanation.run.annotations.end() && absl::SimpleAtoi(stated->second, &steps))
    return steps;
  return explanation.run.counts.steps - std::min<uint64_t>(explanation.run.counts.steps, 1);
}

}  // namespace

std::string PlaceOf(const analysis::ExplainedRequest& request) {
  if (std::string line = analysis::UserLine(request); !line.empty()) return line;
  if (!request.module.empty()) {
    const bool is_number = request.module.find_first_not_of("0123456789.") == std::string::npos;
    return (is_number ? "module " : "") + request.module;
  }
  const bool is_phase = request.site.starts_with('(');  // "(in forward)"
  return is_phase ? "" : request.site;
}

StepCost CostOf(const analysis::Annotations& annotations) {
  const auto number = [&](std::string_view name) {
    return analysis::AnnotatedNumber(annotations, trace::fact::kFitStep.Of(name)).value_or(0);
  };
  return {.kernel_launches = number("kernel_launches"),
          .product_operations = number("product_operations"),
          .host_copy_bytes = number("host_copy_bytes"),
          .host_memory_bytes = number("host_memory_bytes"),
          .sent_bytes = number("sent_bytes"),
          .sent_bytes_network = number("sent_bytes_network"),
          .sends = number("sends"),
          .microseconds = number("microseconds")};
}

uint64_t AtMost(const CardNeed& need) { return need.total + need.fragmentation + need.more_beside; }

ProcessNeed NeedOf(const Explanation& explanation) {
  ProcessNeed need;
  for (const CardExplanation& card : explanation.cards) {
    const auto timeline = explanation.timelines.find(card.index);
    if (timeline != explanation.timelines.end() && timeline->second.peak > 0)
      need.cards.push_back(NeedOfCard(card, timeline->second, explanation.run.annotations));
  }
  need.steps = StepsOf(explanation);
  need.planned_steps =
      analysis::AnnotatedNumber(explanation.run.annotations, trace::fact::kFitPlannedSteps)
          .value_or(0);
  need.end = EndOf(explanation);
  need.cost = CostOf(explanation.run.annotations);
  need.time = StepTimeOf(explanation.run.annotations);
  need.failed = FailedLineOf(explanation);
  need.failures = explanation.run.counts.out_of_memory;
  need.gaps = GapsOf(analysis::AnnotatedText(explanation.run.annotations, trace::fact::kFitGaps));
  need.went_on =
      analysis::AnnotatedText(explanation.run.annotations, trace::fact::kFitWentOn) == "1";
  return need;
}

void CountOthersOnce(const std::vector<uint64_t>& others, std::vector<ProcessNeed>& processes) {
  if (processes.size() < 2) return;
  std::set<int32_t> counted;
  for (ProcessNeed& process : processes) {
    for (CardNeed& need : process.cards) {
      const auto card = static_cast<size_t>(need.card);
      const bool is_first = counted.insert(need.card).second;
      SetOthers(is_first && card < others.size() ? others[card] : 0, need);
    }
  }
}

std::vector<CardNeed> Joined(const std::vector<ProcessNeed>& processes) {
  std::map<int32_t, CardNeed> cards;
  for (const ProcessNeed& process : processes) {
    for (const CardNeed& need : process.cards) {
      const auto [entry, is_new] = cards.try_emplace(need.card, need);
      if (is_new) continue;
      CardNeed& joined = entry->second;
      joined.peak_allocated += need.peak_allocated;
      for (size_t phase = 0; phase < need.phase_peaks.size(); ++phase)
        joined.phase_peaks[phase] += need.phase_peaks[phase];
      joined.peak_reserved += need.peak_reserved;
      joined.total += need.total;
      joined.fragmentation += need.fragmentation;
      joined.more_beside += need.more_beside;
      for (const NeedPart& part : need.parts) {
        const auto same =
            std::find_if(joined.parts.begin(), joined.parts.end(),
                         [&part](const NeedPart& of) { return of.name == part.name; });
        if (same == joined.parts.end()) {
          joined.parts.push_back(part);
        } else {
          same->bytes += part.bytes;
        }
      }
    }
  }
  std::vector<CardNeed> all;
  all.reserve(cards.size());
  for (auto& [card, need] : cards) all.push_back(std::move(need));
  return all;
}

}  // namespace memtrace::fit
