// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/explanation.h"

#include <algorithm>
#include <utility>

#include "tools/analysis/frames.h"
#include "tools/analysis/role_inference.h"
#include "tools/analysis/site_names.h"

namespace memtrace::analysis {
namespace {

// The blocks of the moments that are asked about, and the ledgers that only a replay knows.
struct Moments {
  std::map<int32_t, std::vector<CapturedBlock>> at_peak;
  std::map<int32_t, Ledger> ledger_at_peak;
  std::vector<CapturedBlock> at_failure;
  std::map<int32_t, std::vector<trace::OutsideAllocate>> outside_at_peak;
  std::vector<trace::OutsideAllocate> outside_at_failure;
  OutsideSet outside;  // at the end
  std::map<int32_t, std::vector<CapturedBlock>> after_update;
};

// The update after which the next step is foreseen.
Update UpdateOf(const Timeline& timeline) {
  return timeline.failed() ? timeline.failed()->update : timeline.latest_update();
}

// The second reading: stops at each card's peak and at the failure, and goes on to the end, because
// labels and deaths that come later still count.
Moments Replay(const EventSource& source, const Timeline& timeline, LiveSet& live) {
  std::multimap<uint64_t, int32_t> peaks;
  for (const auto& [device, card] : timeline.cards()) peaks.emplace(card.peak_event, device);
  const Update update = UpdateOf(timeline);
  Moments moments;
  uint64_t ordinal = 0;
  source.ForEach([&](const trace::Event& event) {
    live.Apply(event);
    moments.outside.Apply(event);
    ++ordinal;
    for (auto [peak, end] = peaks.equal_range(ordinal); peak != end; ++peak) {
      const int32_t device = peak->second;
      moments.at_peak[device] = live.Capture(device);
      moments.outside_at_peak[device] = moments.outside.Capture(device);
      moments.ledger_at_peak[device] =
          LedgerFromReplay(moments.at_peak[device], live, live.mapped(device),
                           timeline.cards().at(device).peak_sample);
    }
    if (timeline.failed() && timeline.failed()->ordinal == ordinal) {
      moments.at_failure = live.Capture(timeline.failed()->event.device);
      moments.outside_at_failure = moments.outside.Capture(timeline.failed()->event.device);
    }
    if (update.last_event == ordinal) {
      for (const auto& [device, peak] : update.peak_before) {
        moments.after_update[device] = live.Capture(device);
      }
    }
  });
  return moments;
}

const trace::CardLedger* AccountOf(const FailedRequest& failed, int32_t device) {
  for (const trace::CardLedger& account : failed.event.cards) {
    if (account.device == device) return &account;
  }
  return nullptr;
}

// A card on which nothing was ever allocated is as its latest sample says.
Ledger LedgerOf(const Timeline& timeline, const Moments& moments, int32_t device, LiveSet& live) {
  if (timeline.failed()) {
    const trace::CardLedger* account = AccountOf(*timeline.failed(), device);
    if (account != nullptr) return LedgerFromAccount(*account);
    if (timeline.failed()->event.device == device) {
      return LedgerFromReplay(moments.at_failure, live, live.mapped(device),
                              timeline.cards().at(device).last_sample);
    }
  }
  const auto at_peak = moments.ledger_at_peak.find(device);
  if (at_peak != moments.ledger_at_peak.end()) return at_peak->second;
  return LedgerFromReplay({}, live, live.mapped(device), timeline.cards().at(device).last_sample);
}

uint64_t PrivatePoolBytes(const std::vector<CapturedBlock>& captured, const LiveSet& live) {
  uint64_t bytes = 0;
  for (const CapturedBlock& entry : captured) {
    const trace::Allocate& allocation = live.block(entry.id).allocation;
    if (allocation.pool != 0) bytes += allocation.allocated;
  }
  return bytes;
}

// The line a person would look at: the user's own, or, where that already names the site, the
// innermost. Autograd's threads have no frames.
std::string HolderLine(const Holding& holding, const std::vector<trace::Frame>& stack) {
  const trace::Frame* user = InnermostUserFrame(stack);
  if (user != nullptr && ShortFrame(*user) != holding.site) return ShortFrame(*user);
  if (!stack.empty() && &TellingFrame(stack) != user) return ShortFrame(TellingFrame(stack));
  const std::string phase = "in " + std::string(PhaseName(holding.since.phase));
  if (!stack.empty() || holding.since.phase == trace::Phase::kOther) return "";
  return holding.site == "(" + phase + ")" ? "" : phase;
}

std::vector<std::string> HolderLines(const Breakdown& held, const EventSource& source) {
  std::vector<std::string> lines;
  lines.reserve(held.holdings.size());
  for (const Holding& holding : held.holdings) {
    lines.push_back(HolderLine(holding, source.Stack(holding.stack)));
  }
  return lines;
}

Request DescribeRequest(const FailedRequest& failed, uint64_t number, const EventSource& source,
                        SiteNames& sites) {
  const trace::OutOfMemory& event = failed.event;
  Request request;
  request.bytes = event.requested;
  request.obtainable = event.obtainable;
  request.limit = event.limit;
  request.owner = event.owner == 0 ? "(none)" : std::string(source.String(event.owner));
  request.stack = source.Stack(event.stack);
  request.role = InferRequestRole(failed.at, request.stack);
  request.site =
      sites.Name(sites.Site(request.role, 0, event.module, event.stack, failed.at.phase));
  request.at = failed.at;
  request.number = number;
  return request;
}

// The fullest card; without known sizes the one with the highest peak.
size_t FullestCard(const std::vector<CardExplanation>& cards) {
  const auto fullness = [](const CardExplanation& card) {
    const double total = card.ledger.total_known ? static_cast<double>(card.ledger.total) : 0;
    const auto peak = static_cast<double>(card.peak.bytes);
    return std::pair(total > 0 ? peak / total : 0, peak);
  };
  const auto fullest = std::max_element(
      cards.begin(), cards.end(), [&fullness](const CardExplanation& a, const CardExplanation& b) {
        return fullness(a) < fullness(b);
      });
  return static_cast<size_t>(fullest - cards.begin());
}

size_t CardOf(const std::vector<CardExplanation>& cards, int32_t device) {
  const auto found =
      std::find_if(cards.begin(), cards.end(),
                   [device](const CardExplanation& card) { return card.index == device; });
  return static_cast<size_t>(found - cards.begin());
}

// Turns the two readings into an Explanation, piece by piece.
class Explainer {
 public:
  Explainer(const EventSource& source, uint64_t wanted_oom)
      : source_(source), wanted_oom_(wanted_oom), sites_(source), timeline_(source, wanted_oom) {}

  Explanation Run();

 private:
  void ExplainCards();
  void ExplainFailure();
  void ExplainPeak();
  void ExplainNextStep();
  void ExplainIdleBlocks(const std::vector<CapturedBlock>& captured, uint64_t moment_ns) {
    result_.idle =
        FindIdleBlocks(captured, moment_ns, live_, timeline_.activities(), source_, sites_);
  }

  const EventSource& source_;
  uint64_t wanted_oom_;
  SiteNames sites_;
  Timeline timeline_;
  LiveSet live_;
  Moments moments_;
  Explanation result_;
};

Explanation Explainer::Run() {
  source_.ForEach([this](const trace::Event& event) { timeline_.Apply(event); });
  moments_ = Replay(source_, timeline_, live_);
  result_.annotations = timeline_.annotations();
  result_.counts = timeline_.counts();
  result_.timelines = timeline_.cards();
  result_.activities = timeline_.activities();
  ExplainCards();
  if (timeline_.failed()) {
    ExplainFailure();
  } else {
    ExplainPeak();
  }
  result_.holder_lines = HolderLines(result_.held, source_);
  return std::move(result_);
}

void Explainer::ExplainCards() {
  for (const auto& [device, timeline] : timeline_.cards()) {
    CardExplanation card;
    card.index = device;
    card.ledger = LedgerOf(timeline_, moments_, device, live_);
    card.peak = BreakDown(moments_.at_peak[device], true, live_, source_, sites_);
    card.peak_at = timeline.peak_at;
    result_.cards.push_back(std::move(card));
  }
  if (result_.cards.empty()) {  // a process that never touched a card
    result_.cards.emplace_back().ledger =
        LedgerFromReplay({}, live_, live_.mapped(0), std::nullopt);
  }
}

void Explainer::ExplainFailure() {
  const FailedRequest& failed = *timeline_.failed();
  const uint64_t number = wanted_oom_ == 0 ? timeline_.counts().out_of_memory : wanted_oom_;
  result_.card = CardOf(result_.cards, failed.event.device);
  result_.request = DescribeRequest(failed, number, source_, sites_);
  result_.held = BreakDown(moments_.at_failure, false, live_, source_, sites_);
  ExplainIdleBlocks(moments_.at_failure, failed.at_ns);
  result_.foreach_copy = FindForeachCopy(failed, moments_.at_failure, result_.held, live_, source_);
  result_.outside = HoldingsOf(moments_.outside_at_failure, sites_);
  const Ledger& ledger = result_.cards[result_.card].ledger;
  result_.verdict = JudgeFailure(failed, ledger, result_.foreach_copy,
                                 PrivatePoolBytes(moments_.at_failure, live_));
  ExplainNextStep();
  result_.remedies = FindRemedies(result_.verdict, ledger, result_.foreach_copy, result_.next_step,
                                  failed.at.step);
}

void Explainer::ExplainPeak() {
  result_.card = FullestCard(result_.cards);
  const int32_t device = result_.cards[result_.card].index;
  result_.held = BreakDown(moments_.at_peak[device], false, live_, source_, sites_);
  if (const auto card = timeline_.cards().find(device); card != timeline_.cards().end())
    ExplainIdleBlocks(moments_.at_peak[device], card->second.peak_ns);
  const auto at_peak = moments_.outside_at_peak.find(device);
  result_.outside =
      HoldingsOf(at_peak != moments_.outside_at_peak.end() ? at_peak->second
                                                           : moments_.outside.Capture(device),
                 sites_);
  ExplainNextStep();
}

void Explainer::ExplainNextStep() {
  const Update update = UpdateOf(timeline_);
  const CardExplanation& card = result_.cards[result_.card];
  const std::vector<CapturedBlock> made =
      MadeByUpdate(update, moments_.after_update[card.index], live_);
  result_.next_step = ForeseeNextStep(update, card.index,
                                      BreakDown(made, false, live_, source_, sites_), card.ledger);
}

}  // namespace

Explanation Explain(const EventSource& source, uint64_t wanted_oom) {
  return Explainer(source, wanted_oom).Run();
}

}  // namespace memtrace::analysis
