// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/layout_document.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/fit/file_sentences.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using fit::Layout;
using fit::LayoutAnswer;
using fit::LayoutVerdict;
using nlohmann::ordered_json;
using Kind = TableColumn::Kind;

constexpr uint64_t kTera = 1'000'000'000'000;

// Returns "tp=2, pp=4".
std::string NameOf(const LayoutAnswer& answer, const Layout& layout) {
  std::string name;
  for (size_t i = 0; i < answer.options.size(); ++i)
    name += (i == 0 ? "" : ", ") + Printable(answer.options[i] + "=" + layout.values[i]);
  return name;
}

size_t Count(const LayoutAnswer& answer, LayoutVerdict verdict) {
  return static_cast<size_t>(
      std::count_if(answer.layouts.begin(), answer.layouts.end(),
                    [verdict](const Layout& layout) { return layout.verdict == verdict; }));
}

uint64_t CardOf(const LayoutAnswer& answer, const Layout& layout) {
  const auto card = static_cast<size_t>(layout.fullest.card);
  return card < answer.card_bytes.size() ? answer.card_bytes[card] : 0;
}

std::string CountText(const LayoutAnswer& answer) {
  const size_t fits = Count(answer, LayoutVerdict::kFits);
  const std::string all = FormatCount(answer.layouts.size());
  if (fits > 0)
    return CountedMessage(fits, "1 of $0 layouts FITS.", "$1 of $0 layouts FIT.", all,
                          FormatCount(fits));
  if (Count(answer, LayoutVerdict::kFailed) == answer.layouts.size())
    return Message("NOT KNOWN. The program fails by itself in each of $0 layouts.", all);
  if (answer.untried > 0 || Count(answer, LayoutVerdict::kNotKnown) > 0)
    return Message("NOT KNOWN. None of $0 layouts is known to fit.", all);
  return Message("DOES NOT FIT. None of $0 layouts fits.", all);
}

// Says how far those that fit were seen; "" if none fits, or each came to its end.
std::string StepsText(const LayoutAnswer& answer) {
  fit::LeastSeen seen;
  for (const Layout& layout : answer.layouts)
    if (layout.verdict == LayoutVerdict::kFits) seen.Add(layout.outcome.outlook);
  if (!seen.has_runs || seen.is_whole || seen.steps == 0) return "";
  return CountedMessage(seen.steps, "That is what 1 step of each showed.",
                        "That is what $0 steps of each showed.", FormatCount(seen.steps));
}

// Says what layouts that fit would still have to survive.
std::string UnseenMomentsText(const LayoutAnswer& answer) {
  std::string names;
  for (const fit::Gap& gap : fit::UnseenMoments(answer))
    names += (names.empty() ? "" : ", ") + fit::MomentWords(gap.moment);
  return names.empty() ? "" : Message("What comes later was not seen: $0.", names);
}

std::string UntriedText(const LayoutAnswer& answer) {
  if (answer.untried == 0) return "";
  return CountedMessage(answer.untried, "The search was stopped before another one.",
                        "The search was stopped before $0 others.", FormatCount(answer.untried));
}

// Says if the recommended layout leaves the margin.
std::string MarginText(const LayoutAnswer& answer, const Layout& best) {
  if (answer.margin_percent == 0) return "";
  return best.has_margin
             ? Message("Each rank leaves at least $0 % of its card.", answer.margin_percent)
             : Message("Not every rank leaves $0 % of its card.", answer.margin_percent);
}

// The order is that of docs/design/virtual-ranks.md: the margin, the network, the machine.
std::string RecommendedText(const LayoutAnswer& answer) {
  if (!answer.recommended) return "";
  const Layout& best = answer.layouts[*answer.recommended];
  const std::string name = NameOf(answer, best);
  const bool sends = best.cost.sent_bytes + best.cost.sent_bytes_network > 0;
  const std::string which =
      sends
          ? Message(
                "Recommended is $0. In a step, the rank that sends most sends $1 over the "
                "network, and $2 to other cards of its machine.",
                name, FormatBytes(best.cost.sent_bytes_network), FormatBytes(best.cost.sent_bytes))
          : Message("Recommended is $0.", name);
  return JoinedSentences(
      {which,
       Message("Rank $0 needs most: $1 of its card's $2.", best.fullest.card,
               FormatBytes(best.fullest.total), FormatBytes(CardOf(answer, best))),
       MarginText(answer, best)});
}

std::string VerdictText(const Layout& layout) {
  switch (layout.verdict) {
    case LayoutVerdict::kFits:
      return Message("fits");
    case LayoutVerdict::kDoesNotFit:
      return Message("does not fit");
    case LayoutVerdict::kFailed:
      return Message("the program fails");
    case LayoutVerdict::kLargerThan:
      return Message("not run");
    case LayoutVerdict::kNotKnown:
      break;
  }
  return Message("not known");
}

std::string ReasonText(const Layout& layout) {
  if (layout.verdict == LayoutVerdict::kLargerThan)
    return Message("A smaller batch or length of this layout does not fit already.");
  if (layout.verdict == LayoutVerdict::kFailed) return Printable(layout.reason);
  if (layout.verdict != LayoutVerdict::kNotKnown) return "";
  if (!layout.reason.empty()) return Printable(layout.reason);
  if (layout.outcome.is_late) return Message("Its run reached the time limit.");
  if (layout.job && !layout.job->left_out.empty())
    return Message("The host has no memory to run all kinds of its ranks.");
  if (layout.job && !layout.job->HasEachKind())
    return Message(
        "Nothing failed, but it is not known if the other ranks are like those that "
        "ran.");
  return Message("Nothing failed, but its peak still rose. More steps can tell: --steps 2:100.");
}

// Returns the part of a step in which a pipeline idles, "18 %"; "" without a pipeline.
std::string IdleText(const Layout& layout) {
  const double share = layout.IdleShare();
  return share == 0 ? "" : Message("$0 %", std::lround(share * 100));
}

TableRow RowOf(const LayoutAnswer& answer, const Layout& layout) {
  TableRow row{.cells = {NameOf(answer, layout), VerdictText(layout)}};
  if (layout.ran()) {
    row.cells.insert(
        row.cells.end(),
        {FormatBytes(layout.fullest.total), std::to_string(layout.fullest.card),
         FormatBytes(layout.cost.sent_bytes), FormatBytes(layout.cost.sent_bytes_network),
         IdleText(layout), FormatCount(layout.cost.product_operations / kTera)});
    if (const uint64_t card = CardOf(answer, layout); card > 0)
      row.share =
          std::min(1.0, static_cast<double>(layout.fullest.total) / static_cast<double>(card));
  }
  if (std::string reason = ReasonText(layout); !reason.empty())
    row.below.push_back(std::move(reason));
  return row;
}

Section TableSection(const LayoutAnswer& answer) {
  Section section{.id = "layouts",
                  .title = Message("LAYOUTS"),
                  .subtitle = Message("one row for each combination of the values")};
  Table table;
  table.columns = {{"", 20},
                   {"", 14},
                   {Message("needs"), 10, Kind::kFigure},
                   {Message("rank"), 6, Kind::kFigure},
                   {Message("in machine"), 12, Kind::kFigure},
                   {Message("network"), 11, Kind::kFigure},
                   {Message("idle"), 7, Kind::kFigure},
                   {Message("TFLOP"), 8, Kind::kFigure}};
  for (const Layout& layout : answer.layouts) table.rows.push_back(RowOf(answer, layout));
  section.parts.emplace_back(std::move(table));
  section.parts.emplace_back(
      Note{Message("The rank is the one that needs most. Then follows what the rank that sends "
                   "most sends in a step: to other cards of its machine, and to other machines. It "
                   "follows from the sizes of the calls; rings are assumed.")});
  section.parts.emplace_back(
      Note{Message("Idle is the part of a step in which a stage of a pipeline waits, estimated "
                   "from its stages and passes as for 1F1B. TFLOP are the operations in matrix "
                   "products of the rank that computes most, recomputation included.")});
  return section;
}

std::string_view VerdictName(LayoutVerdict verdict) {
  switch (verdict) {
    case LayoutVerdict::kFits:
      return "fits";
    case LayoutVerdict::kDoesNotFit:
      return "does_not_fit";
    case LayoutVerdict::kFailed:
      return "program_fails";
    case LayoutVerdict::kLargerThan:
      return "larger_than_one_that_does_not_fit";
    case LayoutVerdict::kNotKnown:
      break;
  }
  return "not_known";
}

ordered_json LayoutJson(const LayoutAnswer& answer, const Layout& layout) {
  ordered_json values = ordered_json::object();
  for (size_t i = 0; i < answer.options.size(); ++i) values[answer.options[i]] = layout.values[i];
  ordered_json json = {{"values", std::move(values)}, {"verdict", VerdictName(layout.verdict)},
                       {"reason", layout.reason},     {"ranks", nullptr},
                       {"fullest", nullptr},          {"step", nullptr}};
  if (layout.job) json["ranks"] = {{"ran", layout.job->real}, {"alike", layout.job->alike}};
  json["has_margin"] = layout.ran() ? ordered_json(layout.has_margin) : ordered_json();
  if (!layout.ran()) return json;
  json["fullest"] = {{"rank", layout.fullest.card},
                     {"needs", layout.fullest.total},
                     {"peak_allocated", layout.fullest.peak_allocated},
                     {"peak_reserved", layout.fullest.peak_reserved},
                     {"card_bytes", CardOf(answer, layout)}};
  json["step"] = {{"sent_bytes", layout.cost.sent_bytes},
                  {"sent_bytes_network", layout.cost.sent_bytes_network},
                  {"product_operations", layout.cost.product_operations},
                  {"idle_share", layout.IdleShare()}};
  return json;
}

}  // namespace

Document LayoutDocument(const LayoutAnswer& answer) {
  Section verdict{.id = "verdict",
                  .parts = {Paragraph{JoinedSentences(
                      {CountText(answer), StepsText(answer), UnseenMomentsText(answer),
                       UntriedText(answer), RecommendedText(answer)})}}};
  Section limits{
      .id = "limits",
      .title = Message("HOW IT IS KNOWN"),
      .parts = {Paragraph{Message(
          "All of this was seen in runs on simulated cards. Which ranks are alike is inferred from "
          "the process groups and shards of rank 0. What virtual ranks would send was taken from "
          "the nearest rank that ran.")}}};
  for (std::string text :
       {KeepingText(answer.keeping), ComparedText(answer.keeping, answer.changes)})
    if (!text.empty()) limits.parts.emplace_back(Paragraph{std::move(text)});
  return {std::move(verdict), TableSection(answer), std::move(limits)};
}

std::string JsonLayouts(const LayoutAnswer& answer) {
  ordered_json layouts = ordered_json::array();
  for (const Layout& layout : answer.layouts) layouts.push_back(LayoutJson(answer, layout));
  ordered_json not_seen = ordered_json::array();
  for (const fit::Gap& gap : fit::UnseenMoments(answer)) not_seen.push_back(gap.moment);
  return JsonText(
      {{"schema", "memtrace.layouts/1"},
       {"card", answer.cards},
       {"margin_percent", answer.margin_percent},
       {"recommended", answer.recommended ? ordered_json(*answer.recommended) : ordered_json()},
       {"layouts", std::move(layouts)},
       {"not_seen", std::move(not_seen)},
       {"untried", answer.untried},
       {"kept_away",
        {{"layer_bytes", answer.keeping.layer_bytes},
         {"why_no_layer", answer.keeping.why_no_layer},
         {"changed", answer.changes.names},
         {"compared_all", answer.changes.saw_all}}}});
}

}  // namespace memtrace::report
