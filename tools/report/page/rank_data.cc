// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/rank_data.h"

#include <cstdint>
#include <utility>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/page/rank_cells.h"
#include "tools/report/page/rank_picture.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/rank_words.h"

namespace memtrace::report {
namespace {

using analysis::Job;
using analysis::JobDimension;
using analysis::ProcessView;
using analysis::RankGrid;
using nlohmann::json;

json CellsJson(const RankCells& cells) {
  return {{"left", cells.left},
          {"top", cells.top},
          {"width", cells.width},
          {"height", cells.height},
          {"rows", cells.rows},
          {"columns", cells.columns},
          {"ranks_down", cells.ranks_down},
          {"ranks_across", cells.ranks_across}};
}

json DimensionJson(const RankGrid& grid, const JobDimension& dimension) {
  return {{"words", AxisWords(grid, dimension)},
          {"size", dimension.size},
          {"stride", dimension.stride},
          {"from", grid.by_machine ? 0 : 1}};
}

std::string FiguresOf(const ProcessView& view) {
  std::vector<std::string> parts;
  if (view.first_failure) parts.push_back(Message("out of memory"));
  if (view.used) {
    parts.push_back(Message("$0 of the card's $1 used ($2)", FormatBytes(*view.used),
                            FormatBytes(view.card_bytes), UsedPercent(view)));
  }
  parts.push_back(Message("peak $0", FormatBytes(view.allocated)));
  parts.push_back(Message("reserved $0", FormatBytes(view.reserved)));
  if (view.nccl > 0) parts.push_back(Message("NCCL $0", FormatBytes(view.nccl)));
  std::string figures;
  for (const std::string& part : parts)
    figures = figures.empty() ? part : Message("$0, $1", figures, part);
  return figures;
}

json KindsJson(const Job& job) {
  json kinds = json::array();
  for (const analysis::RankKind& kind : job.kinds) {
    kinds.push_back(
        {{"name", KindName(job, kind)}, {"figures", FiguresOf(job.processes[kind.first()])}});
  }
  return kinds;
}

// Returns the ranks that were started, and their pages.
json StartedJson(const RankGrid& grid, const std::vector<std::string>& pages) {
  json started = json::array();
  for (uint64_t rank = 0; rank < grid.processes.size(); ++rank) {
    const int32_t process = grid.processes[rank];
    if (process < 0) continue;
    started.push_back({{"rank", rank}, {"page", pages[static_cast<size_t>(process)]}});
  }
  return started;
}

}  // namespace

std::string RankData(const Job& job, const RankGrid& grid, const std::vector<std::string>& pages) {
  json columns = json::array();
  for (const JobDimension& dimension : grid.columns)
    columns.push_back(DimensionJson(grid, dimension));
  return json{{"schema", "memtrace.ranks/1"},
              {"world", grid.world},
              {"cells", CellsJson(CellsOf(grid))},
              {"rows", DimensionJson(grid, grid.rows)},
              {"columns", std::move(columns)},
              {"kinds", KindsJson(job)},
              {"kind_of", grid.kinds},
              {"started", StartedJson(grid, pages)}}
      .dump();
}

}  // namespace memtrace::report
