// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/diff_report.h"

#include <utility>

#include "nlohmann/json.hpp"
#include "tools/report/sections/diff_rows.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/text_document.h"

namespace memtrace::report {
namespace {

using nlohmann::ordered_json;

ordered_json SideJson(const DiffSide& side) {
  return {{"file", side.run.file},
          {"card", side.card().index},
          {"moment", side.moment()},
          {"event", side.card().when.ordinal},
          {"bytes", side.explanation.holders.held.bytes},
          {"peak", side.card().peak.bytes},
          {"cause", std::string(trace::FailureCauseName(side.explanation.failure.verdict.cause))}};
}

ordered_json RowJson(const ChangedRow& row, const std::vector<TreeLevel>& levels) {
  ordered_json json;
  for (size_t i = 0; i < row.values.size(); ++i)
    json[std::string(LevelName(levels[i]))] = row.values[i];
  json["change"] = row.change();
  json["before"] = row.before;
  json["after"] = row.after;
  json["blocks_before"] = row.blocks_before;
  json["blocks_after"] = row.blocks_after;
  return json;
}

}  // namespace

std::string TextDiff(const DiffSide& before, const DiffSide& after, const DiffStyle& style) {
  return TextOf(DiffDocument(before, after, style));
}

std::string JsonDiff(const DiffSide& before, const DiffSide& after, const DiffStyle& style) {
  ordered_json levels = ordered_json::array();
  for (const TreeLevel level : style.levels) levels.push_back(std::string(LevelName(level)));
  ordered_json rows = ordered_json::array();
  for (const ChangedRow& row : ChangedRows(before.explanation.holders.attributed,
                                           after.explanation.holders.attributed, style.levels))
    rows.push_back(RowJson(row, style.levels));
  return JsonText({{"schema", "memtrace.diff/1"},
                   {"before", SideJson(before)},
                   {"after", SideJson(after)},
                   {"levels", levels},
                   {"rows", rows}});
}

}  // namespace memtrace::report
