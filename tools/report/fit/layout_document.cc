// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/layout_document.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "messages/message.h"
#include "nlohmann/json.hpp"
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
  if (fits == 0 && Count(answer, LayoutVerdict::kNotKnown) > 0)
    return Message("NOT KNOWN. None of $0 layouts is known to fit.", all);
  if (fits == 0) return Message("DOES NOT FIT. None of $0 layouts fits.", all);
  return CountedMessage(fits, "1 of $0 layouts FITS.", "$1 of $0 layouts FIT.", all,
                        FormatCount(fits));
}

std::string RecommendedText(const LayoutAnswer& answer) {
  if (!answer.recommended) return "";
  const Layout& best = answer.layouts[*answer.recommended];
  const std::string name = NameOf(answer, best);
  const bool sends = best.cost.sent_bytes + best.cost.sent_bytes_network > 0;
  const std::string which =
      sends
          ? Message(
                "Of these, $0 sends least: $1 a step to other cards of the machine, and $2 "
                "over the network.",
                name, FormatBytes(best.cost.sent_bytes), FormatBytes(best.cost.sent_bytes_network))
          : Message("Of these, $0 comes first.", name);
  return JoinedSentences(
      {which,
       Message("Rank $0 needs most: $1 of its card's $2.", best.fullest.card,
               FormatBytes(best.fullest.total), FormatBytes(CardOf(answer, best))),
       answer.margin_percent == 0 ? ""
       : answer.has_margin
           ? Message("That leaves at least $0 % of the card.", answer.margin_percent)
           : Message("That leaves less than $0 % of the card.", answer.margin_percent)});
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
  if (layout.outcome.is_late) return Message("Its run reached the time limit.");
  if (layout.job && !layout.job->left_out.empty())
    return Message("The host has no memory to run all kinds of its ranks.");
  if (layout.job && !layout.job->HasEachKind())
    return Message(
        "Nothing failed, but it is not known if the other ranks are like those that "
        "ran.");
  return Message("Nothing failed, but its peak still rose. More steps can tell: --steps 2:100.");
}

TableRow RowOf(const LayoutAnswer& answer, const Layout& layout) {
  TableRow row{.cells = {NameOf(answer, layout), VerdictText(layout)}};
  if (layout.ran()) {
    row.cells.insert(
        row.cells.end(),
        {FormatBytes(layout.fullest.total), std::to_string(layout.fullest.card),
         FormatBytes(layout.cost.sent_bytes), FormatBytes(layout.cost.sent_bytes_network)});
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
                  .subtitle = Message("each by a run of one rank of each kind")};
  Table table;
  table.columns = {{"", 28},
                   {"", 18},
                   {Message("needs"), 10, Kind::kFigure},
                   {Message("rank"), 5, Kind::kFigure},
                   {Message("in machine"), 10, Kind::kFigure},
                   {Message("network"), 10, Kind::kFigure}};
  for (const Layout& layout : answer.layouts) table.rows.push_back(RowOf(answer, layout));
  section.parts.emplace_back(std::move(table));
  section.parts.emplace_back(
      Note{Message("The rank is the one that needs most. The last two columns are what the rank "
                   "that sends most sends in a step: to other cards of its machine, and to other "
                   "machines. It follows from the sizes of the calls; rings are assumed.")});
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
  if (!layout.ran()) return json;
  json["fullest"] = {{"rank", layout.fullest.card},
                     {"needs", layout.fullest.total},
                     {"peak_allocated", layout.fullest.peak_allocated},
                     {"peak_reserved", layout.fullest.peak_reserved},
                     {"card_bytes", CardOf(answer, layout)}};
  json["step"] = {{"sent_bytes", layout.cost.sent_bytes},
                  {"sent_bytes_network", layout.cost.sent_bytes_network},
                  {"product_operations", layout.cost.product_operations}};
  return json;
}

}  // namespace

Document LayoutDocument(const LayoutAnswer& answer) {
  Section verdict{
      .id = "verdict",
      .parts = {Paragraph{JoinedSentences({CountText(answer), RecommendedText(answer)})}}};
  Section limits{
      .id = "limits",
      .title = Message("HOW IT IS KNOWN"),
      .parts = {Paragraph{Message(
          "All of this was seen in runs on simulated cards. Which ranks are alike is inferred from "
          "the process groups and shards of rank 0. What virtual ranks would send was taken from "
          "the nearest rank that ran.")}}};
  return {std::move(verdict), TableSection(answer), std::move(limits)};
}

std::string JsonLayouts(const LayoutAnswer& answer) {
  ordered_json layouts = ordered_json::array();
  for (const Layout& layout : answer.layouts) layouts.push_back(LayoutJson(answer, layout));
  return JsonText(
      {{"schema", "memtrace.layouts/1"},
       {"card", answer.cards},
       {"margin_percent", answer.margin_percent},
       {"recommended", answer.recommended ? ordered_json(*answer.recommended) : ordered_json()},
       {"has_margin", answer.recommended ? ordered_json(answer.has_margin) : ordered_json()},
       {"layouts", std::move(layouts)}});
}

}  // namespace memtrace::report
