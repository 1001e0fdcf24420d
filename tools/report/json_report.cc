// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/json_report.h"

#include <algorithm>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/map_report.h"
#include "tools/report/sections/activity_table.h"
#include "tools/report/sections/fragmentation_table.h"
#include "tools/report/sections/growth_table.h"
#include "tools/report/sections/peak_section.h"
#include "tools/report/sections/variables_text.h"
#include "tools/report/sections/verdict_text.h"
#include "tools/report/simulation_json.h"
#include "tools/report/verdict/others_text.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/verdict/unneeded_text.h"
#include "tools/report/verdict_json.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/known_bytes.h"

namespace memtrace::report {
namespace {

using analysis::Breakdown;
using analysis::Explanation;
using analysis::RunFacts;
using nlohmann::ordered_json;

ordered_json LedgerJson(const analysis::Ledger& ledger) {
  ordered_json entries = ordered_json::array();
  for (const analysis::LedgerEntry& entry : ledger.entries) {
    entries.push_back({{"name", std::string(entry.name())}, {"bytes", entry.bytes}});
  }
  return entries;
}

ordered_json OffCardJson(const analysis::Ledger& ledger) {
  ordered_json entries = ordered_json::array();
  for (const analysis::OffCardEntry& entry : ledger.off_card)
    entries.push_back({{"name", std::string(entry.name())}, {"bytes", entry.bytes}});
  return entries;
}

ordered_json SharesJson(const std::vector<analysis::Share>& shares, bool of_roles) {
  ordered_json rows = ordered_json::array();
  for (const analysis::Share& share : shares) {
    ordered_json row = {{"name", share.name}, {"bytes", share.bytes}};
    if (of_roles) AddKnownBytes(share.known, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

ordered_json PositionJson(const analysis::Position& position) {
  return {{"step", position.step},
          {"micro_batch", position.micro_batch},
          {"phase", std::string(PhaseName(position.phase))}};
}

// Returns the moment that the ledger and the holders describe.
ordered_json MomentJson(const Explanation& explanation) {
  const analysis::Moment& when = explanation.card_of_verdict().when;
  return {{"name", MomentName(explanation.asked, explanation.failure)},
          {"event", when.ordinal},
          {"time_ns", when.time_ns},
          {"at", PositionJson(when.at)},
          {"held", explanation.holders.held.bytes}};
}

ordered_json PeakJson(const analysis::CardExplanation& card) {
  return {{"bytes", card.peak.bytes},
          {"blocks", card.peak.blocks},
          {"assumed_bytes", AssumedBytes(card.peak)},
          {"at", PositionJson(card.peak_at)},
          {"by_role", SharesJson(card.peak.by_role, true)},
          {"by_owner", SharesJson(card.peak.by_owner, false)},
          {"by_site", SharesJson(card.peak.by_site, false)},
          {"reserved", ReservedPeakJson(card)}};
}

ordered_json CardsJson(const Explanation& explanation) {
  ordered_json cards = ordered_json::array();
  for (const analysis::CardExplanation& card : explanation.cards) {
    cards.push_back({{"index", card.index},
                     {"bytes", card.ledger.total},
                     {"bytes_known", card.ledger.total_known},
                     {"ledger", LedgerJson(card.ledger)},
                     {"peak", card.peak.bytes}});
    if (!card.ledger.off_card.empty()) cards.back()["off_card"] = OffCardJson(card.ledger);
  }
  return cards;
}

// Describes the last failed request if the program completed all the same; otherwise null.
ordered_json RecoveredFailuresJson(const Explanation& explanation) {
  if (!explanation.failure.got_over) return nullptr;
  const analysis::ExplainedRequest& last = *explanation.failure.got_over;
  return {{"requests", last.number},
          {"bytes", last.bytes},
          {"site", last.site},
          {"at", PositionJson(last.at)}};
}

ordered_json RequestJson(const Explanation& explanation) {
  if (!explanation.failure.request) return nullptr;
  const analysis::ExplainedRequest& request = *explanation.failure.request;
  ordered_json stack = ordered_json::array();
  for (const trace::Frame& frame : request.stack) {
    stack.push_back({{"file", frame.file}, {"line", frame.line}, {"function", frame.function}});
  }
  const std::string line = analysis::UserLine(request);
  return {{"bytes", request.bytes},
          {"owner", request.owner},
          {"role", std::string(RoleName(request.role))},
          {"role_known", std::string(EvidenceName(request.evidence))},
          {"site", request.site},
          {"obtainable", request.obtainable},
          {"oom", request.number},
          {"of", explanation.run.counts.out_of_memory},
          {"at", PositionJson(request.at)},
          {"line", line.empty() ? ordered_json() : ordered_json(line)},
          {"stack", stack}};
}

ordered_json HoldingsJson(const Explanation& explanation) {
  ordered_json rows = ordered_json::array();
  for (size_t i = 0; i < explanation.holders.held.holdings.size(); ++i) {
    const analysis::Holding& holding = explanation.holders.held.holdings[i];
    ordered_json row = {
        {"role", std::string(RoleName(holding.role))},
        {"site", holding.site},
        {"model", holding.model + 1},
        {"owner", holding.owner.empty() ? ordered_json(nullptr) : ordered_json(holding.owner)},
        {"bytes", holding.bytes}};
    AddKnownBytes(holding.known, row);
    row["blocks"] = holding.blocks;
    row["since_step"] = holding.since.step;
    row["line"] = explanation.holders.lines[i].line;
    const std::string& library = explanation.holders.lines[i].library;
    if (!library.empty()) row["library_line"] = library;
    rows.push_back(std::move(row));
  }
  return rows;
}

ordered_json CallSizeJson(const analysis::CallSize& size) {
  return {{"examples", size.examples}, {"length", size.length}};
}

ordered_json KeptForBackwardJson(const analysis::KeptForBackward& kept) {
  return {{"bytes", kept.bytes},
          {"forwards", kept.forwards},
          {"eval", kept.is_eval},
          {"in_vain", kept.is_in_vain()}};
}

ordered_json OutsideJson(const Explanation& explanation) {
  ordered_json rows = ordered_json::array();
  for (const analysis::OutsideHolding& holding : explanation.holders.outside) {
    rows.push_back({{"kind", std::string(OutsideKindName(holding.kind))},
                    {"site", holding.site},
                    {"bytes", holding.bytes},
                    {"blocks", holding.blocks}});
  }
  return rows;
}

ordered_json MovedJson(const Explanation& explanation) {
  ordered_json rows = ordered_json::array();
  for (const analysis::MovedBytes& moved : explanation.holders.moved) {
    rows.push_back({{"device", moved.device},
                    {"kind", std::string(MoveKindName(moved.kind))},
                    {"step", moved.step},
                    {"to", moved.to},
                    {"bytes", moved.bytes},
                    {"times", moved.times}});
  }
  return rows;
}

ordered_json RemediesJson(const Explanation& explanation) {
  ordered_json rows = ordered_json::array();
  for (const analysis::Remedy& remedy : explanation.cures.remedies) {
    rows.push_back(
        {{"name", remedy.name},
         {"predicted_peak", remedy.need()},
         {"this_step", remedy.this_step},
         {"next_step", remedy.next_step ? ordered_json(*remedy.next_step) : ordered_json(nullptr)},
         {"at_least", remedy.at_least},
         {"how_known", std::string(remedy.how_known)},
         {"change", MessageOf(remedy.change)},
         {"cost", MessageOf(remedy.cost)},
         {"hook", std::string(remedy.hook)}});
  }
  return rows;
}

ordered_json NextStepJson(const Explanation& explanation) {
  if (!explanation.cures.next_step) return nullptr;
  return {{"number", explanation.cures.next_step->number},
          {"need", explanation.cures.next_step->need},
          {"new_states", explanation.cures.next_step->new_states},
          {"how_known", "estimated"}};
}

ordered_json RunJson(const Explanation& explanation, const RunFacts& run) {
  ordered_json json = {{"file", run.file},
                       {"command", run.command},
                       {"host", run.host},
                       {"pid", run.process},
                       {"rank", run.rank},
                       {"torch", run.torch},
                       {"allocator", run.allocator},
                       {"card", run.card},
                       {"events", explanation.run.counts.events},
                       {"closed", run.completeness.closed},
                       {"siblings", run.siblings}};
  if (!explanation.failure.ran_out_beside.empty())
    json["ran_out_beside"] = explanation.failure.ran_out_beside;
  if (!run.repaired.empty()) json["repaired"] = run.repaired;
  return json;
}

}  // namespace

std::string JsonReport(const Explanation& explanation, const RunFacts& run) {
  const analysis::CardExplanation& card = explanation.card_of_verdict();
  ordered_json report;
  report["schema"] = "memtrace.report/1";
  report["run"] = RunJson(explanation, run);
  report["verdict"] = VerdictJson(explanation.failure.verdict, VerdictSentences(explanation));
  report["request"] = RequestJson(explanation);
  report["got_over"] = RecoveredFailuresJson(explanation);
  report["card"] = {{"index", card.index}, {"bytes", card.ledger.total}};
  report["ledger"] = LedgerJson(card.ledger);
  if (!card.ledger.off_card.empty()) report["off_card"] = OffCardJson(card.ledger);
  if (!card.others.empty()) report["other_processes"] = OthersJson(card);
  report["peak"] = PeakJson(card);
  report["cards"] = CardsJson(explanation);
  report["moment"] = MomentJson(explanation);
  report["fragmentation"] = FragmentationJson(explanation);
  if (explanation.layout.map) report["segments"] = SegmentsJson(explanation.layout);
  report["growth"] = GrowthJson(explanation);
  report["scratch"] = ScratchJson(explanation.layout.scratch);
  report["holdings"] = HoldingsJson(explanation);
  if (!explanation.failure.variables.empty())
    report["variables"] = VariablesJson(explanation.failure.variables);
  if (!explanation.holders.outside.empty()) report["outside"] = OutsideJson(explanation);
  if (!explanation.holders.moved.empty()) report["moved"] = MovedJson(explanation);
  if (const auto& call = explanation.failure.largest_call)
    report["largest_call"] = {{"now", CallSizeJson(call->now)},
                              {"before", CallSizeJson(call->before)}};
  if (const auto& untrained = explanation.kept.untrained_passes)
    report["untrained_passes"] = {
        {"bytes", untrained->bytes}, {"calls", untrained->calls}, {"line", untrained->line}};
  if (explanation.kept.kept_for_backward)
    report["kept_for_backward"] = KeptForBackwardJson(*explanation.kept.kept_for_backward);
  if (const auto& deleted = explanation.kept.deleted_models)
    report["deleted_models"] = {{"bytes", deleted->bytes}, {"keeper", KeeperJson(deleted->keeper)}};
  if (explanation.holders.idle) report["idle"] = IdleJson(*explanation.holders.idle);
  if (!explanation.run.activities.state().empty())
    report["activities"] = ActivitiesJson(explanation.run.activities);
  AddUnneeded(explanation, report);
  report["remedies"] = RemediesJson(explanation);
  report["next_step"] = NextStepJson(explanation);
  report["simulated"] = SimulatedJson(run);
  report["lost"] = LostJson(run.completeness);
  return JsonText(report);
}

}  // namespace memtrace::report
