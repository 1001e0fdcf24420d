// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/explanation.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "tools/analysis/explained_cards.h"
#include "tools/analysis/holders/layer_counts.h"
#include "tools/analysis/kept/growth_search.h"
#include "tools/analysis/replayed/captures.h"
#include "tools/analysis/source/frames.h"
#include "tools/analysis/source/site_names.h"
#include "tools/analysis/verdict/cache_to_come.h"

namespace memtrace::analysis {
namespace {

// Returns the update from which the next step is foreseen.
Update UpdateOf(const Timeline& timeline) {
  return timeline.failed() ? timeline.failed()->update : timeline.latest_update();
}

bool IsGrowing(const Explanation& explanation) {
  const auto& contributing = explanation.failure.verdict.contributing;
  return std::any_of(contributing.begin(), contributing.end(), [](const Contribution& found) {
    return found.kind == ContributionKind::kGrowth;
  });
}

// True where the size of the latest call says how much is computed.
bool IsOfPass(const Position& position) {
  using trace::Phase;
  return position.phase == Phase::kForward || position.phase == Phase::kBackward ||
         position.phase == Phase::kRecompute || position.phase == Phase::kEvaluate;
}

// Turns the two readings into an Explanation, piece by piece.
class Explainer {
 public:
  Explainer(const EventSource& source, const MomentSpec& spec, const ExplainOptions& options)
      : source_(source),
        spec_(spec),
        options_(options),
        sites_(source),
        timeline_(source, spec.kind == MomentSpec::Kind::kFailure ? spec.number : 0),
        unread_names_(source),
        untrained_(source),
        call_sizes_(source),
        captures_(timeline_),
        growth_(source, timeline_) {}

  absl::StatusOr<Explanation> Run();

 private:
  absl::Status ReadFirst();
  size_t CardOfVerdict() const;
  void RunSecondPass();
  void LookAt(uint64_t ordinal, int32_t device, std::map<int32_t, CardMoment>& moments);
  void LookForGrowth();
  void ExplainCards();
  void AddLayers(const CardTimeline& timeline, CardExplanation& card);
  void AddOtherMoments(CardExplanation& card);
  void ExplainFailure();
  void ExplainHolders();
  void ExplainNextStep();
  void ExplainUnreadNames();
  void ExplainKeptResults();
  void ExplainRemedies();

  // True if the moment to explain is that of a failed request.
  bool is_failure() const {
    using Kind = MomentSpec::Kind;
    return timeline_.failed() && (spec_.kind == Kind::kFailure ||
                                  (spec_.kind == Kind::kFailureOrPeak && !timeline_.got_over()));
  }
  bool is_peak() const {
    using Kind = MomentSpec::Kind;
    return !is_failure() && (spec_.kind == Kind::kPeak || spec_.kind == Kind::kFailureOrPeak);
  }
  // The annotations at the failure, or at the end of the trace if there is no failure.
  const Annotations& annotations() const {
    return is_failure() ? timeline_.failed()->annotations : result_.run.annotations;
  }
  int32_t device() const { return result_.card_of_verdict().index; }
  // The capture of the card of the verdict.
  const CapturedCard& captured() { return at_moment_[device()]; }

  const EventSource& source_;
  MomentSpec spec_;
  const ExplainOptions& options_;
  SiteNames sites_;
  Timeline timeline_;
  AttemptWatch attempts_;
  UnreadNames unread_names_;
  UntrainedWatch untrained_;
  CallSizes call_sizes_;
  Captures captures_;
  std::map<int32_t, uint64_t> moments_;  // ordinals, by card
  std::map<int32_t, CapturedCard> at_moment_;
  std::map<int32_t, std::vector<CapturedBlock>> at_peak_;
  std::map<int32_t, CardMoment> most_reserved_;
  std::map<int32_t, CardMoment> fullest_;
  std::map<int32_t, std::vector<CapturedBlock>> after_update_;
  GrowthSearch growth_;
  Explanation result_;
};

absl::StatusOr<Explanation> Explainer::Run() {
  MEMTRACE_RETURN_IF_ERROR(ReadFirst());
  RunSecondPass();
  result_.run.annotations = timeline_.annotations();
  result_.run.counts = timeline_.counts();
  result_.run.is_one_of_ranks = source_.is_one_of_ranks();
  result_.run.is_partial = source_.is_partial();
  result_.timelines = timeline_.cards();
  result_.run.activities = timeline_.activities();
  if (!is_failure() && !is_peak()) result_.asked = spec_;
  ExplainCards();
  result_.card = CardOfVerdict();
  if (options_.add_others) options_.add_others(result_);
  ExplainHolders();
  if (is_failure()) ExplainFailure();
  if (is_peak()) {
    if (timeline_.got_over())
      result_.failure.got_over =
          DescribeRequest(*timeline_.failed(), timeline_.counts().out_of_memory, source_, sites_);
    ExplainNextStep();
    ExplainRemedies();
  }
  return std::move(result_);
}

size_t Explainer::CardOfVerdict() const {
  const auto is_asked = [this](const CardExplanation& card) { return spec_.card == card.index; };
  const auto asked = std::find_if(result_.cards.begin(), result_.cards.end(), is_asked);
  if (asked != result_.cards.end()) return static_cast<size_t>(asked - result_.cards.begin());
  return is_failure() ? CardOf(result_.cards, timeline_.failed()->event.device)
                      : FullestCard(result_.cards);
}

absl::Status Explainer::ReadFirst() {
  MomentFinder finder(spec_);
  source_.ForEach([&](const trace::Event& event) {
    growth_.Apply(event);
    timeline_.Apply(event);
    attempts_.See(event, timeline_.counts().events);
    unread_names_.See(event, timeline_.counts().events);
    untrained_.See(event);
    call_sizes_.See(event, timeline_.counts().events);
    finder.Apply(event, timeline_);
  });
  moments_ = finder.Found(timeline_);
  const bool missing =
      spec_.kind == MomentSpec::Kind::kFailure ? !timeline_.failed() : moments_.empty();
  // A process that never touched a card has neither moments nor anything to explain.
  const bool refused = missing && spec_.kind != MomentSpec::Kind::kFailureOrPeak &&
                       (spec_.kind == MomentSpec::Kind::kFailure || !timeline_.cards().empty());
  return refused ? absl::OutOfRangeError(finder.DescribeMissingMoment(timeline_))
                 : absl::OkStatus();
}

void Explainer::RunSecondPass() {
  for (const auto& [device, card] : timeline_.cards()) {
    captures_.At(card.peak_event,
                 [this, at = device] { at_peak_[at] = captures_.live().Capture(at); });
    LookAt(card.most_reserved_event, device, most_reserved_);
    LookAt(card.fullest_event, device, fullest_);
  }
  for (const auto& [device, ordinal] : moments_) {
    captures_.At(ordinal, device, [this, at = device](CapturedCard captured) {
      at_moment_[at] = std::move(captured);
    });
    unread_names_.LookUp(device, ordinal, captures_);
  }
  const Update update = UpdateOf(timeline_);
  captures_.At(update.last_event, [this, update] {
    for (const auto& [device, peak] : update.peak_before) {
      after_update_[device] = captures_.live().Capture(device);
    }
  });
  LookForGrowth();
  captures_.Read(source_);
}

void Explainer::LookAt(uint64_t ordinal, int32_t device, std::map<int32_t, CardMoment>& moments) {
  if (ordinal == 0) return;
  captures_.At(ordinal, device, [&moments, device](const CapturedCard& captured) {
    moments[device] = {captured.when, captured.ledger};
  });
}

void Explainer::LookForGrowth() {
  uint64_t latest = 0;
  for (const auto& [device, ordinal] : moments_) latest = std::max(latest, ordinal);
  const trace::StackId stack = is_failure() ? timeline_.failed()->event.stack : 0;
  const Annotations& annotations =
      is_failure() ? timeline_.failed()->annotations : timeline_.annotations();
  growth_.Watch(latest, stack, annotations, /*with_loops=*/is_failure() || is_peak(), captures_,
                sites_);
}

void Explainer::ExplainCards() {
  for (const auto& [device, timeline] : timeline_.cards()) {
    CardExplanation card;
    card.index = device;
    card.when = at_moment_[device].when;
    card.ledger = is_failure() ? LedgerAtFailure(*timeline_.failed(), device, at_moment_[device])
                               : at_moment_[device].ledger;
    card.peak = BreakDown(at_peak_[device], captures_.live(), source_, sites_);
    card.peak_at = timeline.peak_at;
    card.second_models = FindSecondModels(at_peak_[device], captures_.live(), source_);
    if (source_.is_one_of_ranks()) AddLayers(timeline, card);
    AddOtherMoments(card);
    if (card.ledger.positive(LedgerPart::kOtherProcesses) > 0)
      card.others = ParseOtherProcesses(at_moment_[device].processes);
    result_.cards.push_back(std::move(card));
  }
  if (result_.cards.empty())  // a process that never touched a card
    result_.cards.emplace_back().ledger = captures_.LedgerAtEnd(0);
}

// Adds what tells the stages of a pipeline apart.
void Explainer::AddLayers(const CardTimeline& timeline, CardExplanation& card) {
  const std::vector<CapturedBlock>& blocks = at_peak_[card.index];
  const LiveSet& live = captures_.live();
  card.in_flight = FindMicroBatchesInFlight(blocks, timeline.peak_at, live, source_, sites_);
  card.layers = CountLayers(blocks, live, source_);
}

void Explainer::AddOtherMoments(CardExplanation& card) {
  if (const auto found = most_reserved_.find(card.index); found != most_reserved_.end())
    card.most_reserved = found->second;
  if (const auto found = fullest_.find(card.index); found != fullest_.end())
    card.fullest = found->second;
  card.retries = AnnotatedNumber(annotations(), fact::kAllocatorRetries.Of(card.index));
  card.waits = AnnotatedNumber(annotations(), fact::kAllocatorWaits.Of(card.index));
}

// Explains the card of the verdict at the moment.
void Explainer::ExplainHolders() {
  const CapturedCard& card = captured();
  const LiveSet& live = captures_.live();
  result_.holders.held = BreakDown(card.blocks, live, source_, sites_);
  result_.holders.attributed = Attribute(card.blocks, live, source_);
  const Position& now = is_failure() ? timeline_.failed()->at : card.when.at;
  result_.kept.kept_for_backward =
      FindKeptForBackward(card.blocks, now, device(), live, source_, annotations());
  result_.kept.untrained_passes = untrained_.Kept(card.blocks, live);
  result_.holders.lines = HolderLines(result_.holders.held, source_);
  const bool known = timeline_.cards().contains(device());
  result_.holders.moved = captures_.moved().Sums(sites_, source_);
  result_.holders.outside =
      HoldingsOf(known ? card.outside : captures_.outside().Capture(device()), sites_);
  if (known) {
    result_.holders.idle = FindIdleBlocks(card.blocks, card.when.time_ns, live,
                                          timeline_.activities(), source_, sites_);
  }
  const std::vector<SegmentMap> maps = MapSegments(card.blocks, live, card.segments);
  result_.layout.fragmentation = MeasureFragmentation(maps, live, sites_);
  if (options_.with_map) result_.layout.map = NameMaps(maps, live, source_, sites_);
  ExplainKeptResults();
  if (!is_failure())
    result_.layout.scratch =
        FindScratch(WithoutResults(card.blocks, result_.kept.results, live), live, sites_);
  const GrowthMoment moment{.device = device(),
                            .event = card.when.ordinal,
                            .held = result_.holders.held.bytes,
                            .captured = card.blocks,
                            .annotations = annotations(),
                            .is_failure = is_failure()};
  result_.kept.growth = growth_.Found(moment, live, sites_);
  result_.kept.deleted_models = FindDeletedModels(moment, live, source_);
}

void Explainer::ExplainFailure() {
  const FailedRequest& failed = *timeline_.failed();
  const std::vector<CapturedBlock>& blocks = captured().blocks;
  const uint64_t number = spec_.number == 0 ? timeline_.counts().out_of_memory : spec_.number;
  result_.failure.request = DescribeRequest(failed, number, source_, sites_);
  result_.kept.summed_passes =
      FindSummedPasses(blocks, failed.at, captures_.live(), source_, annotations());
  if (result_.kept.summed_passes && result_.kept.summed_passes->hands_on() &&
      !result_.kept.growth.is_of_graphs_within_step())
    result_.kept.summed_passes.reset();
  if (IsOfPass(failed.at) && failed.at.step > 1)
    result_.failure.largest_call = call_sizes_.LargestAt(failed.ordinal);
  result_.failure.variables = ParseVariables(failed.annotations, device());
  result_.kept.dead_cycles = FindDeadCycles(failed, blocks, captures_.live(), source_);
  result_.kept.failed_attempts = attempts_.LeftBehind(failed, blocks, captures_.live(), source_);
  result_.failure.foreach_copy =
      FindForeachCopy(failed, blocks, result_.holders.held, captures_.live(), source_);
  const Ledger& ledger = result_.card_of_verdict().ledger;
  const BegunPass pass{.cache = FindCacheToCome(failed, blocks, captures_.live(), source_),
                       .layers = FindLayersToCome(failed, blocks, captures_.live(), source_)};
  const RestOfStep rest =
      PredictRestOfStep(failed, result_.holders.held, result_.failure.foreach_copy, pass);
  FailureEvidence evidence{.rest = PredictFromFirstStep(rest, failed, Unused(ledger)),
                           .copy = result_.failure.foreach_copy,
                           .private_pool_bytes = PrivatePoolBytes(blocks, captures_.live())};
  if (result_.layout.fragmentation.segments > 0)
    evidence.releasable = result_.layout.fragmentation.releasable;
  result_.failure.verdict = JudgeFailure(failed, ledger, evidence);
  // A card that growth fills up also ends in pieces.
  if (result_.failure.verdict.cause == Cause::kFragmentation && result_.growth_is_reason())
    result_.failure.verdict.cause = Cause::kCapacity;
  ExplainNextStep();
  ExplainRemedies();
}

void Explainer::ExplainNextStep() {
  // Guessed phases are too weak a base for this.
  if (source_.best_evidence() < Evidence::kPhase) return;
  const Update update = UpdateOf(timeline_);
  const CardExplanation& card = result_.card_of_verdict();
  const std::vector<CapturedBlock> made =
      MadeByUpdate(update, after_update_[card.index], captures_.live());
  const uint64_t to_come = update.over ? 0 : result_.failure.verdict.rest.optimizer.states;
  result_.cures.next_step = PredictNextStep(
      update, card.index, BreakDown(made, captures_.live(), source_, sites_), to_come, card.ledger);
  if (result_.cures.next_step && is_failure())
    result_.cures.next_step->left_gradients =
        GradientsLeft(captured().blocks, timeline_.failed()->at, captures_.live(), source_);
}

void Explainer::ExplainUnreadNames() {
  static const std::vector<trace::Frame> kNone;
  const auto& request = result_.failure.request;
  result_.kept.unread =
      unread_names_.Values(device(), {.captured = captured().blocks,
                                      .live = captures_.live(),
                                      .source = source_,
                                      .at = captured().when.at,
                                      .request_stack = request ? request->stack : kNone});
}

// At another moment nothing would help, so nothing is looked for.
void Explainer::ExplainKeptResults() {
  if (!is_failure() && !is_peak()) return;
  const trace::StackId stack = is_failure() ? timeline_.failed()->event.stack : 0;
  result_.kept.results =
      FindKeptResults({.captured = captured().blocks,
                       .at = is_failure() ? timeline_.failed()->at : captured().when.at,
                       .device = device(),
                       .annotations = annotations(),
                       .is_failure = is_failure(),
                       .request_stack = source_.Stack(stack)},
                      captures_.live(), source_);
}

void Explainer::ExplainRemedies() {
  ExplainUnreadNames();
  const auto& failed = timeline_.failed();
  const Ledger& ledger = result_.card_of_verdict().ledger;
  const Update update = UpdateOf(timeline_);
  const bool is_growing = result_.growth_goes_on();
  const GrowthCourse none;
  const std::vector<CapturedBlock> of_others =
      untrained_.BlocksOfOtherPasses(captured().blocks, captures_.live());
  SavingFacts facts{
      .captured = captured().blocks,
      .live = captures_.live(),
      .source = source_,
      .held = result_.holders.held,
      .annotations = annotations(),
      .update = update,
      .ledger = ledger,
      .verdict = result_.failure.verdict,
      .copy = result_.failure.foreach_copy,
      .kept = result_.kept.kept_for_backward,
      .untrained = result_.kept.untrained_passes,
      .of_others = of_others,
      .largest_call = result_.failure.largest_call,
      .summed = result_.kept.summed_passes,
      .deleted = result_.kept.deleted_models,
      .results = result_.kept.results,
      .growth = is_growing ? result_.kept.growth : none,
      .dead = result_.kept.dead_cycles,
      .attempts = result_.kept.failed_attempts,
      .unread = result_.kept.unread,
      .is_after_loop = growth_.is_after_loop(),
      .device = device(),
      .others = result_.card_of_verdict().others,
      .moment = is_failure() ? failed->at : captured().when.at,
      .request_stack = {},
      .rise_of_same_request = is_failure() ? failed->rise_of_same_request : std::nullopt,
      .peak_of_earlier_steps = is_failure() ? failed->peak_of_earlier_steps : 0};
  if (result_.failure.request) {
    facts.request_stack = result_.failure.request->stack;
    facts.request_bytes = result_.failure.request->bytes;
  }
  result_.cures.remedies = FindRemedies(result_.failure.verdict, ledger, result_.cures.next_step,
                                        is_failure() ? failed->at.step : 0, FindSavings(facts));
  // If an exception ended the run, its rest is not known.
  const bool is_cut = is_peak() && !ExceptionThatEnded(annotations()).empty();
  if (is_growing || is_cut || IsGrowing(result_)) MarkFitsUncertain(result_.cures.remedies, ledger);
  const bool ends =
      result_.kept.summed_passes && result_.kept.summed_passes->hands_on();  // with the loop
  if (result_.growth_is_reason() && !ends) DropPostponingRemedies(result_.cures.remedies);
}

}  // namespace

absl::StatusOr<Explanation> Explain(const EventSource& source, const MomentSpec& spec,
                                    const ExplainOptions& options) {
  return Explainer(source, spec, options).Run();
}

}  // namespace memtrace::analysis
