// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/fit_json.h"

#include <algorithm>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/fit/cheapest/frontier.h"
#include "tools/fit/trials/kept_away.h"
#include "tools/report/fit/failure_json.h"
#include "tools/report/fit/moments_json.h"
#include "tools/report/fit/remedy_sections.h"
#include "tools/report/fit/time_words.h"
#include "tools/report/words/json_text.h"

namespace memtrace::report {
namespace {

using nlohmann::ordered_json;

ordered_json PartsJson(const fit::CardNeed& need) {
  ordered_json parts = ordered_json::array();
  for (const fit::NeedPart& part : need.parts)
    parts.push_back({{"name", part.name}, {"bytes", part.bytes}});
  return parts;
}

ordered_json CardsJson(const fit::Outcome& outcome) {
  ordered_json cards = ordered_json::array();
  for (const fit::CardNeed& need : fit::Joined(outcome.processes)) {
    cards.push_back({{"card", need.card},
                     {"peak_allocated", need.peak_allocated},
                     {"peak_reserved", need.peak_reserved},
                     {"needs", need.total},
                     {"parts", PartsJson(need)},
                     {"fragmentation", need.fragmentation}});
  }
  return cards;
}

// Returns the card that has to hold most.
ordered_json FullestCard(const ordered_json& cards) {
  const auto fullest = std::max_element(
      cards.begin(), cards.end(), [](const ordered_json& a, const ordered_json& b) {
        return a["needs"].get<uint64_t>() < b["needs"].get<uint64_t>();
      });
  return fullest == cards.end() ? ordered_json::object() : *fullest;
}

std::string JoinedTexts(const fit::TriedRemedy& remedy, std::string fit::Candidate::*text) {
  std::string joined;
  for (const fit::Candidate& change : remedy.changes)
    joined += (joined.empty() ? "" : "; ") + MessageOf(change.*text);
  return joined;
}

// Returns the changes with their hooks; a degree is null if the hook has none.
ordered_json ChangesJson(const std::vector<fit::Candidate>& changes) {
  ordered_json list = ordered_json::array();
  for (const fit::Candidate& change : changes) {
    list.push_back(
        {{"name", change.name}, {"hook", change.hook}, {"degree", nullptr}, {"of", nullptr}});
    if (change.degree > 0) list.back()["degree"] = change.degree;
    if (change.of > 0) list.back()["of"] = change.of;
  }
  return list;
}

// Returns the word for a verdict on a run that was seen so far.
const char* VerdictName(fit::FitVerdict verdict, const fit::Outlook& seen) {
  switch (verdict) {
    case fit::FitVerdict::kFits:
      return seen.is_whole ? "fits" : "fits_in_the_steps_seen";
    case fit::FitVerdict::kDoesNotFit:
      return "does_not_fit";
    case fit::FitVerdict::kWillNotFit:
      return "will_not_fit";
    case fit::FitVerdict::kNotKnown:
      break;
  }
  return "not_known";
}

// Returns how far a run was seen, and how its peak develops.
ordered_json SeenJson(const fit::Outlook& outlook) {
  ordered_json json = {{"steps", outlook.steps},
                       {"planned_steps", nullptr},
                       {"whole_program", outlook.is_whole},
                       {"last_rise", outlook.last_rise},
                       {"rise", nullptr}};
  if (outlook.planned_steps > 0) json["planned_steps"] = outlook.planned_steps;
  if (outlook.climb)
    json["rise"] = {{"bytes", outlook.climb->bytes},
                    {"of", outlook.climb->is_of_floor ? "what_stays" : "peak"},
                    {"every_steps", outlook.climb->every},
                    {"times", outlook.climb->times},
                    {"card", outlook.card},
                    {"full_in_step", outlook.full_in_step}};
  return json;
}

ordered_json CostJson(const fit::StepCost& cost, const std::optional<fit::StepTime>& time) {
  ordered_json seconds = nullptr;
  if (time && time->is_whole()) seconds = time->seconds();
  return {{"seconds", seconds},
          {"kernel_launches", cost.kernel_launches},
          {"product_operations", cost.product_operations},
          {"host_copy_bytes", cost.host_copy_bytes},
          {"host_memory_bytes", cost.host_memory_bytes},
          {"sent_bytes", cost.sent_bytes},
          {"sent_bytes_network", cost.sent_bytes_network},
          {"sends", cost.sends}};
}

ordered_json RemedyJson(const fit::TriedRemedy& remedy, const fit::Outcome& unchanged) {
  const ordered_json cards = CardsJson(remedy.outcome);
  const ordered_json fullest = FullestCard(cards);
  ordered_json json = {{"name", NameOf(remedy)},
                       {"fits", remedy.outcome.fits()},
                       {"verdict", VerdictName(remedy.outcome.verdict(), remedy.outcome.outlook)},
                       {"steps", remedy.outcome.outlook.steps},
                       {"had_effect", remedy.had_effect},
                       {"changes", ChangesJson(remedy.changes)},
                       {"was_run", remedy.was_run},
                       {"on_smaller_card", remedy.is_smaller_card},
                       {"has_margin", nullptr},
                       {"peak_reserved", nullptr},
                       {"change", JoinedTexts(remedy, &fit::Candidate::change)},
                       {"cost", JoinedTexts(remedy, &fit::Candidate::cost)},
                       {"first_failure", FailureJson(remedy.outcome)},
                       {"seconds", remedy.outcome.seconds}};
  if (remedy.has_margin) json["has_margin"] = *remedy.has_margin;
  if (remedy.outcome.fits()) {
    const std::optional<fit::StepTime> time = remedy.outcome.time();
    json["step_cost"] = CostJson(remedy.outcome.cost(), time);
    json["time_ratio"] = nullptr;
    if (const auto ratio = fit::TimeRatio(unchanged.time(), time)) json["time_ratio"] = *ratio;
  }
  if (remedy.outcome.fits() && fullest.contains("peak_reserved"))
    json["peak_reserved"] = fullest["peak_reserved"];
  return json;
}

ordered_json UntriedJson(const fit::Answer& answer) {
  ordered_json untried = ordered_json::array();
  for (const fit::UntriedRemedy& remedy : answer.untried) {
    const bool is_missing = !remedy.package.empty();
    untried.push_back({{"name", remedy.name},
                       {"why", is_missing ? "package_missing" : "edits_the_script"},
                       {"package", nullptr},
                       {"change", MessageOf(remedy.change)},
                       {"cost", MessageOf(remedy.cost)}});
    if (is_missing) untried.back()["package"] = remedy.package;
  }
  return untried;
}

ordered_json UnknownJson(const fit::Outcome& outcome) {
  ordered_json values = ordered_json::array();
  for (const analysis::HostRead& read : outcome.reads) {
    values.push_back({{"line", read.place},
                      {"operation", read.operation},
                      {"count", read.count},
                      {"known", read.assumed ? "assumed" : "unknown"},
                      {"steered", true}});
  }
  return values;
}

ordered_json ProcessesJson(const fit::Outcome& outcome) {
  ordered_json processes = ordered_json::array();
  for (const fit::ProcessNeed& process : outcome.processes) {
    ordered_json cards = ordered_json::array();
    for (const fit::CardNeed& need : process.cards) {
      cards.push_back({{"card", need.card},
                       {"peak_allocated", need.peak_allocated},
                       {"peak_reserved", need.peak_reserved},
                       {"needs", need.total},
                       {"parts", PartsJson(need)},
                       {"fragmentation", need.fragmentation}});
    }
    processes.push_back({{"name", process.name},
                         {"steps", process.steps},
                         {"step_cost", CostJson(process.cost, process.time)},
                         {"step_time", TimeJson(process.time)},
                         {"cards", cards}});
  }
  return processes;
}

ordered_json SmallestJson(const fit::Answer& answer) {
  ordered_json cards = ordered_json::array();
  for (const fit::SmallestCard& card : answer.smallest) {
    cards.push_back({{"allocator", card.allocator},
                     {"completes", card.completes},
                     {"steps", card.seen.steps},
                     {"whole_program", card.seen.is_whole},
                     {"fails", nullptr},
                     {"product", nullptr}});
    if (card.fails) cards.back()["fails"] = *card.fails;
    if (!card.product.empty()) cards.back()["product"] = card.product;
  }
  return cards;
}

ordered_json GrowthJson(const fit::NeedFormula& growth) {
  return {
      {"constant", growth.constant}, {"linear", growth.linear}, {"quadratic", growth.quadratic}};
}

ordered_json GrowthsJson(const std::vector<fit::NamedFormula>& growths) {
  ordered_json list = ordered_json::array();
  for (const fit::NamedFormula& of : growths)
    list.push_back({{"name", of.name}, {"growth", GrowthJson(of.growth)}});
  return list;
}

ordered_json ScalingsJson(const fit::Answer& answer) {
  ordered_json scalings = ordered_json::array();
  for (const fit::Scaling& scaling : answer.scalings) {
    ordered_json points = ordered_json::array();
    for (const fit::Scaling::Point& point : scaling.points)
      points.push_back({{"value", point.value},
                        {"peak_allocated", point.peak_allocated},
                        {"needs", point.needs}});
    scalings.push_back({{"name", scaling.name},
                        {"points", std::move(points)},
                        {"holds_from", scaling.holds_from},
                        {"needs", GrowthJson(scaling.needs)},
                        {"roles", GrowthsJson(scaling.roles)},
                        {"sites", GrowthsJson(scaling.sites)},
                        {"largest", nullptr},
                        {"fails", nullptr}});
    if (scaling.largest) scalings.back()["largest"] = *scaling.largest;
    if (scaling.largest) scalings.back()["largest_steps"] = scaling.seen.steps;
    if (scaling.fails) scalings.back()["fails"] = *scaling.fails;
  }
  return scalings;
}

ordered_json KeptAwayJson(const fit::Answer& answer) {
  const fit::KeptAway& kept = answer.unlimited.kept_away;
  return {{"saves", kept.saves},
          {"files", kept.files},
          {"first", kept.first},
          {"layer_bytes", answer.keeping.layer_bytes},
          {"why_no_layer", answer.keeping.why_no_layer},
          {"changed", answer.changes.names},
          {"compared_all", answer.changes.saw_all},
          {"other_programs", {{"count", kept.programs}, {"first", kept.first_programs}}}};
}

ordered_json FrontierJson(const fit::Answer& answer) {
  ordered_json points = ordered_json::array();
  for (const fit::FrontierPoint& point : fit::FrontierOf(answer))
    points.push_back({{"changes", ChangesJson(point.changes)},
                      {"needs", point.needs},
                      {"peak_reserved", point.reserved},
                      {"time_ratio", point.time},
                      {"fits", point.fits},
                      {"has_margin", point.has_margin},
                      {"may_change_results", point.may_change_results},
                      {"takes_another_card", point.takes_another_card},
                      {"is_cheapest", point.is_plan},
                      {"on_frontier", point.is_on_frontier}});
  return points;
}

// Returns the places in `remedies` of the cheapest plan and of what proves it; null if none was
// looked for.
ordered_json CheapestJson(const fit::Answer& answer) {
  if (!answer.cheapest) return nullptr;
  const fit::CheapestPlan& cheapest = *answer.cheapest;
  ordered_json json = {{"plan", nullptr},
                       {"one_less", cheapest.one_less},
                       {"without_margin", nullptr},
                       {"one_less_without_margin", cheapest.one_less_without_margin},
                       {"complete", cheapest.is_complete}};
  if (cheapest.plan) json["plan"] = *cheapest.plan;
  if (cheapest.without_margin) json["without_margin"] = *cheapest.without_margin;
  return json;
}

// Returns the verdict of the answer; null if no card was given.
ordered_json VerdictJson(const fit::Answer& answer) {
  if (answer.cards.empty()) return nullptr;
  if (!answer.has_within) return "not_known";
  if (answer.fits() && !answer.is_about_all_ranks()) return "ranks_that_ran_fit";
  return VerdictName(answer.verdict(), answer.deciding().outlook);
}

ordered_json RecoveredFailuresJson(const fit::Outcome& outcome) {
  const auto over = outcome.LastRecoveredFailure();
  if (!over) return nullptr;
  return {
      {"times", outcome.times_got_over()},
      {"last", {{"line", LineJson(*over)}, {"bytes", over->bytes}, {"short_by", over->short_by}}}};
}

ordered_json StoppedJson(const fit::Answer& answer) {
  if (!answer.stopped) return nullptr;
  return {{"run", answer.stopped->name},
          {"at_its_limit_of_time", answer.stopped->is_late},
          {"seen", SeenJson(answer.stopped->outcome.outlook)},
          {"cards", CardsJson(answer.stopped->outcome)}};
}

// Returns the ranks of the job that ran, and for how many each stands; null if there is no job.
ordered_json JobJson(const fit::Answer& answer) {
  if (!answer.job) return nullptr;
  return {{"world", answer.job->world},
          {"ranks", answer.job->real},
          {"alike", answer.job->alike},
          {"left_out", answer.job->left_out},
          {"has_each_kind", answer.job->HasEachKind()}};
}

// Returns the bytes of each card; of a job, of each rank that ran.
ordered_json CardBytesJson(const fit::Answer& answer) {
  if (!answer.job || answer.card_bytes.empty()) return answer.card_bytes;
  ordered_json bytes = ordered_json::array();
  for (const int rank : answer.job->real)
    bytes.push_back(answer.card_bytes[static_cast<size_t>(rank)]);
  return bytes;
}

ordered_json ForksJson(const fit::ForkUse& forks) {
  const std::string& why = forks.why_not;
  return {{"runs", forks.runs}, {"why_not", why.empty() ? ordered_json() : ordered_json(why)}};
}

}  // namespace

std::string JsonFit(const fit::Answer& answer) {
  const ordered_json cards = CardsJson(answer.told());
  const ordered_json fullest = FullestCard(cards);
  ordered_json remedies = ordered_json::array();
  for (const fit::TriedRemedy& remedy : answer.remedies)
    remedies.push_back(RemedyJson(remedy, answer.reference ? *answer.reference : answer.unlimited));
  ordered_json json = {
      {"schema", "memtrace.fit/1"},
      {"card", answer.cards},
      {"card_bytes", CardBytesJson(answer)},
      {"job", JobJson(answer)},
      {"fits", nullptr},
      {"verdict", VerdictJson(answer)},
      {"seen", SeenJson((answer.has_within ? answer.within : answer.unlimited).outlook)},
      {"gaps", GapsJson(answer)},
      {"batches", BatchesJson(answer.has_within ? answer.within : answer.unlimited)},
      {"moments", MomentsJson(answer)},
      {"limited_by", LimitedByJson(answer)},
      {"got_over", RecoveredFailuresJson(answer.deciding())},
      {"margin_percent", answer.margin_percent},
      {"has_margin", nullptr},
      {"peak_allocated", fullest.value("peak_allocated", uint64_t{0})},
      {"peak_reserved", fullest.value("peak_reserved", uint64_t{0})},
      {"needs", fullest.value("needs", uint64_t{0})},
      {"parts", fullest.value("parts", ordered_json::array())},
      {"fragmentation", fullest.value("fragmentation", uint64_t{0})},
      {"cards", cards},
      {"processes", ProcessesJson(answer.unlimited)},
      {"step_cost", CostJson(answer.unlimited.cost(), answer.unlimited.time())},
      {"step_time", TimeJson(answer.unlimited.time())},
      {"first_failure", FirstFailureJson(answer)},
      {"remedies", std::move(remedies)},
      {"not_tried", UntriedJson(answer)},
      {"recommended", nullptr},
      {"cheapest", CheapestJson(answer)},
      {"frontier", FrontierJson(answer)},
      {"smallest_cards", SmallestJson(answer)},
      {"scalings", ScalingsJson(answer)},
      {"unknown_values", UnknownJson(answer.unlimited)},
      {"kept_away", KeptAwayJson(answer)},
      {"forks", ForksJson(answer.forks)},
      {"stopped", StoppedJson(answer)}};
  const bool is_known = answer.has_within && answer.verdict() != fit::FitVerdict::kNotKnown;
  if (is_known && (!answer.fits() || answer.is_about_all_ranks())) json["fits"] = answer.fits();
  if (answer.has_margin) json["has_margin"] = *answer.has_margin;
  if (answer.recommended) json["recommended"] = NameOf(answer.remedies[*answer.recommended]);
  return JsonText(json);
}

}  // namespace memtrace::report
