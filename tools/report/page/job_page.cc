// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/job_page.h"

#include <optional>

#include "messages/message.h"
#include "tools/analysis/jobs/rank_grid.h"
#include "tools/report/page/html_document.h"
#include "tools/report/page/page_data.h"
#include "tools/report/page/page_frame.h"
#include "tools/report/page/rank_data.h"
#include "tools/report/page/rank_picture.h"
#include "tools/report/processes_report.h"

namespace memtrace::report {
namespace {

using analysis::Job;

// Returns the section of the drawing, whose link is made by hand because the document has no part
// for it.
std::string RankSection(const Job& job, const analysis::RankGrid& grid) {
  return "<section id=\"ranks\" aria-labelledby=\"h-ranks\">\n<h2 id=\"h-ranks\">" +
         HtmlEscaped(Message("THE RANKS OF THE JOB")) + "</h2>\n" + DrawRanks(job, grid) +
         "</section>\n";
}

}  // namespace

std::string JobPage(const std::string& folder, const Job& job,
                    const std::vector<std::string>& pages) {
  const Document document = ProcessesDocument(folder, job, /*all=*/true);
  const std::optional<analysis::RankGrid> grid = analysis::GridOf(job);
  return FramedPage(
      {.title = folder,
       .heading = "memtrace report",
       .main = ContentsOf(document) +
               HtmlWith("verdict", document, grid ? RankSection(job, *grid) : "") +
               CopyableTextOf(document),
       .data = grid ? DataTemplate("ranks-data", Packed(RankData(job, *grid, pages))) : ""});
}

}  // namespace memtrace::report
