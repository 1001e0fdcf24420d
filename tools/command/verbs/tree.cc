// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "base/status_macros.h"
#include "tools/analysis/explanation.h"
#include "tools/analysis/source/native_names.h"
#include "tools/command/inputs/moment_option.h"
#include "tools/command/inputs/row_options.h"
#include "tools/command/verbs/trace_verb.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/tree_report.h"

namespace memtrace::command {
namespace {

constexpr const char* kTreeDescription =
    "Print what held a card at a moment, as a tree or a ranking\n"
    "Memory is grouped by role, owner, module path, call site and step of allocation, in any\n"
    "order.\n"
    "\n"
    "Usage: memtrace tree [OPTIONS] FILE";
constexpr const char* kTreeExamples =
    "Examples:\n"
    "  memtrace tree run.trace                          at the last out-of-memory error, or the "
    "peak\n"
    "  memtrace tree --by module,role run.trace         what each module holds, by role\n"
    "  memtrace tree --flat --by site,step run.trace    a ranking\n"
    "  memtrace tree --at step:5 --json run.trace | jq .tree";

struct TreeOptions : TraceOptions {
  MomentOption moment;
  report::TreeStyle style;
};

absl::StatusOr<std::string> Tree(const TraceInput& input, const TreeOptions& options) {
  const analysis::NativeNames named(input);
  MEMTRACE_ASSIGN_OR_RETURN(const analysis::Explanation explanation,
                            analysis::Explain(named, options.moment.spec));
  const analysis::RunFacts run = input.Facts(explanation.run.annotations);
  return options.json ? report::JsonTree(explanation, run, options.style)
                      : report::TextTree(explanation, run, options.style);
}

}  // namespace

void DefineTree(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<TreeOptions>();
  using report::TreeLevel;
  options->style.levels = {TreeLevel::kRole, TreeLevel::kOwner, TreeLevel::kModule,
                           TreeLevel::kSite};
  app.description(kTreeDescription);
  app.footer(kTreeExamples);
  AddTraceOptions(app, *options, "memtrace.tree/1");
  AddMomentOptions(app, options->moment);
  AddLevelsOption(app, "Levels of the tree, outermost first", options->style.levels);
  app.add_flag("--flat", options->style.flat,
               "Print a ranking of all combinations instead of a tree")
      ->group("Output");
  AddRowsOption(app, options->style.rows);
  app.callback([options, &exit_code] {
    exit_code = PrintFromTrace(
        *options, [&options](const TraceInput& input) { return Tree(input, *options); });
  });
}

}  // namespace memtrace::command
