// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/explanation.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "tools/analysis/explained_cards.h"
#include "tools/analysis/holders/layer_counts.h"
#include "tools/analysis/source/frames.h"
#include "tools/analysis/two_readings.h"
#include "tools/analysis/verdict/cache_to_come.h"

namespace memtrace::analysis {
namespace {

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
      : source_(source), spec_(spec), options_(options), read_(source, spec) {}

  absl::StatusOr<Explanation> Run();

 private:
  size_t CardOfVerdict() const;
  void ExplainCards();
  void AddLayers(const CardTimeline& timeline, CardExplanation& card);
  void AddOtherMoments(CardExplanation& card);
  void ExplainFailure();
  void ExplainHolders();
  void ExplainNextStep();
  void ExplainUnreadNames();
  void ExplainKeptResults();
  void ExplainRemedies();
  SavingFacts FactsForSavings(const Update& update, const std::vector<CapturedBlock>& of_others,
                              const GrowthCourse& growth);

  // The annotations at the failure, or at the end of the trace if there is no failure.
  const Annotations& annotations() const {
    return read_.is_failure() ? read_.timeline.failed()->annotations : result_.run.annotations;
  }
  int32_t device() const { return result_.card_of_verdict().index; }
  // The capture of the card of the verdict.
  const CapturedCard& captured() { return read_.at_moment[device()]; }

  const EventSource& source_;
  MomentSpec spec_;
  const ExplainOptions& options_;
  TwoReadings read_;
  Explanation result_;
};

absl::StatusOr<Explanation> Explainer::Run() {
  MEMTRACE_RETURN_IF_ERROR(read_.Read());
  result_.run.annotations = read_.timeline.annotations();
  result_.run.counts = read_.timeline.counts();
  result_.run.is_one_of_ranks = source_.is_one_of_ranks();
  result_.run.is_partial = source_.is_partial();
  result_.timelines = read_.timeline.cards();
  result_.run.activities = read_.timeline.activities();
  if (!read_.is_failure() && !read_.is_peak()) result_.asked = spec_;
  ExplainCards();
  result_.card = CardOfVerdict();
  if (options_.add_others) options_.add_others(result_);
  ExplainHolders();
  if (read_.is_failure()) ExplainFailure();
  if (read_.is_peak()) {
    if (read_.timeline.got_over())
      result_.failure.got_over = DescribeRequest(
          *read_.timeline.failed(), read_.timeline.counts().out_of_memory, source_, read_.sites);
    ExplainNextStep();
    ExplainRemedies();
  }
  return std::move(result_);
}

size_t Explainer::CardOfVerdict() const {
  const auto is_asked = [this](const CardExplanation& card) { return spec_.card == card.index; };
  const auto asked = std::find_if(result_.cards.begin(), result_.cards.end(), is_asked);
  if (asked != result_.cards.end()) return static_cast<size_t>(asked - result_.cards.begin());
  return read_.is_failure() ? CardOf(result_.cards, read_.timeline.failed()->event.device)
                            : FullestCard(result_.cards);
}

void Explainer::ExplainCards() {
  for (const auto& [device, timeline] : read_.timeline.cards()) {
    CardExplanation card;
    card.index = device;
    card.when = read_.at_moment[device].when;
    card.ledger = read_.is_failure()
                      ? LedgerAtFailure(*read_.timeline.failed(), device, read_.at_moment[device])
                      : read_.at_moment[device].ledger;
    card.peak = BreakDown(read_.at_peak[device], read_.live(), source_, read_.sites);
    card.peak_at = timeline.peak_at;
    card.second_models = FindSecondModels(read_.at_peak[device], read_.live(), source_);
    card.logits = FindLogits(read_.at_peak[device], read_.live(), source_);
    if (source_.is_one_of_ranks()) AddLayers(timeline, card);
    AddOtherMoments(card);
    if (card.ledger.positive(LedgerPart::kOtherProcesses) > 0)
      card.others = ParseOtherProcesses(read_.at_moment[device].processes);
    result_.cards.push_back(std::move(card));
  }
  if (result_.cards.empty())  // a process that never touched a card
    result_.cards.emplace_back().ledger = read_.captures.LedgerAtEnd(0);
}

// Adds what tells the stages of a pipeline apart.
void Explainer::AddLayers(const CardTimeline& timeline, CardExplanation& card) {
  const std::vector<CapturedBlock>& blocks = read_.at_peak[card.index];
  const LiveSet& live = read_.live();
  card.in_flight = FindMicroBatchesInFlight(blocks, timeline.peak_at, live, source_, read_.sites);
  card.layers = CountLayers(blocks, live, source_);
}

void Explainer::AddOtherMoments(CardExplanation& card) {
  if (const auto found = read_.most_reserved.find(card.index); found != read_.most_reserved.end())
    card.most_reserved = found->second;
  if (const auto found = read_.fullest.find(card.index); found != read_.fullest.end())
    card.fullest = found->second;
  card.retries = AnnotatedNumber(annotations(), fact::kAllocatorRetries.Of(card.index));
  card.waits = AnnotatedNumber(annotations(), fact::kAllocatorWaits.Of(card.index));
}

// Explains the card of the verdict at the moment.
void Explainer::ExplainHolders() {
  const CapturedCard& card = captured();
  const LiveSet& live = read_.live();
  result_.holders.held = BreakDown(card.blocks, live, source_, read_.sites);
  result_.holders.attributed = Attribute(card.blocks, live, source_);
  const Position& now = read_.is_failure() ? read_.timeline.failed()->at : card.when.at;
  result_.kept.kept_for_backward =
      FindKeptForBackward(card.blocks, now, device(), live, source_, annotations());
  result_.kept.untrained_passes = read_.untrained.Kept(card.blocks, live);
  result_.holders.lines = HolderLines(result_.holders.held, source_);
  const bool known = read_.timeline.cards().contains(device());
  result_.holders.moved = read_.captures.moved().Sums(read_.sites, source_);
  result_.holders.outside =
      HoldingsOf(known ? card.outside : read_.captures.outside().Capture(device()), read_.sites);
  if (known) {
    result_.holders.idle = FindIdleBlocks(card.blocks, card.when.time_ns, live,
                                          read_.timeline.activities(), source_, read_.sites);
  }
  const std::vector<SegmentMap> maps = MapSegments(card.blocks, live, card.segments);
  result_.layout.fragmentation = MeasureFragmentation(maps, live, read_.sites);
  if (options_.with_map) result_.layout.map = NameMaps(maps, live, source_, read_.sites);
  ExplainKeptResults();
  if (!read_.is_failure())
    result_.layout.scratch =
        FindScratch(WithoutResults(card.blocks, result_.kept.results, live), live, read_.sites);
  const GrowthMoment moment{.device = device(),
                            .event = card.when.ordinal,
                            .held = result_.holders.held.bytes,
                            .captured = card.blocks,
                            .annotations = annotations(),
                            .is_failure = read_.is_failure()};
  result_.kept.growth = read_.growth.Found(moment, live, read_.sites);
  result_.kept.deleted_models = FindDeletedModels(moment, live, source_);
}

void Explainer::ExplainFailure() {
  const FailedRequest& failed = *read_.timeline.failed();
  const std::vector<CapturedBlock>& blocks = captured().blocks;
  const uint64_t number = spec_.number == 0 ? read_.timeline.counts().out_of_memory : spec_.number;
  result_.failure.request = DescribeRequest(failed, number, source_, read_.sites);
  result_.kept.summed_passes =
      FindSummedPasses(blocks, failed.at, read_.live(), source_, annotations());
  if (result_.kept.summed_passes && result_.kept.summed_passes->hands_on() &&
      !result_.kept.growth.is_of_graphs_within_step())
    result_.kept.summed_passes.reset();
  if (IsOfPass(failed.at) && failed.at.step > 1)
    result_.failure.largest_call = read_.call_sizes.LargestAt(failed.ordinal);
  result_.failure.variables = ParseVariables(failed.annotations, device());
  result_.kept.dead_cycles = FindDeadCycles(failed, blocks, read_.live(), source_);
  result_.kept.failed_attempts = read_.attempts.LeftBehind(failed, blocks, read_.live(), source_);
  result_.failure.foreach_copy =
      FindForeachCopy(failed, blocks, result_.holders.held, read_.live(), source_);
  const Ledger& ledger = result_.card_of_verdict().ledger;
  const BegunPass pass{.cache = FindCacheToCome(failed, blocks, read_.live(), source_),
                       .layers = FindLayersToCome(failed, blocks, read_.live(), source_)};
  const RestOfStep rest =
      PredictRestOfStep(failed, result_.holders.held, result_.failure.foreach_copy, pass);
  FailureEvidence evidence{.rest = PredictFromFirstStep(rest, failed, Unused(ledger)),
                           .copy = result_.failure.foreach_copy,
                           .private_pool_bytes = PrivatePoolBytes(blocks, read_.live())};
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
  const Update update = read_.latest_update();
  const CardExplanation& card = result_.card_of_verdict();
  const std::vector<CapturedBlock> made =
      MadeByUpdate(update, read_.after_update[card.index], read_.live());
  const uint64_t to_come = update.over ? 0 : result_.failure.verdict.rest.optimizer.states;
  result_.cures.next_step =
      PredictNextStep(update, card.index, BreakDown(made, read_.live(), source_, read_.sites),
                      to_come, card.ledger);
  if (result_.cures.next_step && read_.is_failure())
    result_.cures.next_step->left_gradients =
        GradientsLeft(captured().blocks, read_.timeline.failed()->at, read_.live(), source_);
}

void Explainer::ExplainUnreadNames() {
  static const std::vector<trace::Frame> kNone;
  const auto& request = result_.failure.request;
  result_.kept.unread =
      read_.unread_names.Values(device(), {.captured = captured().blocks,
                                           .live = read_.live(),
                                           .source = source_,
                                           .at = captured().when.at,
                                           .request_stack = request ? request->stack : kNone});
}

// At another moment nothing would help, so nothing is looked for.
void Explainer::ExplainKeptResults() {
  if (!read_.is_failure() && !read_.is_peak()) return;
  const trace::StackId stack = read_.is_failure() ? read_.timeline.failed()->event.stack : 0;
  result_.kept.results =
      FindKeptResults({.captured = captured().blocks,
                       .at = read_.is_failure() ? read_.timeline.failed()->at : captured().when.at,
                       .device = device(),
                       .annotations = annotations(),
                       .is_failure = read_.is_failure(),
                       .request_stack = source_.Stack(stack)},
                      read_.live(), source_);
}

// The facts refer to the arguments, and to the result so far.
SavingFacts Explainer::FactsForSavings(const Update& update,
                                       const std::vector<CapturedBlock>& of_others,
                                       const GrowthCourse& growth) {
  const auto& failed = read_.timeline.failed();
  SavingFacts facts{
      .captured = captured().blocks,
      .live = read_.live(),
      .source = source_,
      .held = result_.holders.held,
      .annotations = annotations(),
      .update = update,
      .ledger = result_.card_of_verdict().ledger,
      .verdict = result_.failure.verdict,
      .copy = result_.failure.foreach_copy,
      .kept = result_.kept.kept_for_backward,
      .untrained = result_.kept.untrained_passes,
      .of_others = of_others,
      .largest_call = result_.failure.largest_call,
      .summed = result_.kept.summed_passes,
      .deleted = result_.kept.deleted_models,
      .results = result_.kept.results,
      .growth = growth,
      .dead = result_.kept.dead_cycles,
      .attempts = result_.kept.failed_attempts,
      .unread = result_.kept.unread,
      .is_after_loop = read_.growth.is_after_loop(),
      .device = device(),
      .others = result_.card_of_verdict().others,
      .moment = read_.is_failure() ? failed->at : captured().when.at,
      .request_stack = {},
      .rise_of_same_request = read_.is_failure() ? failed->rise_of_same_request : std::nullopt,
      .peak_of_earlier_steps = read_.is_failure() ? failed->peak_of_earlier_steps : 0};
  if (result_.failure.request) {
    facts.request_stack = result_.failure.request->stack;
    facts.request_bytes = result_.failure.request->bytes;
  }
  return facts;
}

void Explainer::ExplainRemedies() {
  ExplainUnreadNames();
  const Ledger& ledger = result_.card_of_verdict().ledger;
  const Update update = read_.latest_update();
  const bool is_growing = result_.growth_goes_on();
  const GrowthCourse none;
  const std::vector<CapturedBlock> of_others =
      read_.untrained.BlocksOfOtherPasses(captured().blocks, read_.live());
  const SavingFacts facts =
      FactsForSavings(update, of_others, is_growing ? result_.kept.growth : none);
  const uint64_t failed_in = read_.is_failure() ? read_.timeline.failed()->at.step : 0;
  result_.cures.remedies = FindRemedies(result_.failure.verdict, ledger, result_.cures.next_step,
                                        failed_in, FindSavings(facts));
  // If an exception ended the run, its rest is not known.
  const bool is_cut = read_.is_peak() && !ExceptionThatEnded(annotations()).empty();
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
