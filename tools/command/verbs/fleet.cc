// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "messages/message.h"
#include "tools/command/outputs/fleet_table.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/verbs/verbs.h"

namespace memtrace::command {
namespace {

constexpr const char* kFleetDescription =
    "Put thousands of traces into a table, and ask it with SQL\n"
    "The first form reads the summaries of all traces in a folder, 40 KiB of each, and writes a\n"
    "Parquet file with one row for each trace. The second form asks that file with DuckDB, where\n"
    "it is the table fleet. Other programs such as Spark read the same file.\n"
    "\n"
    "Usage: memtrace fleet [OPTIONS] FOLDER -o OUT\n"
    "       memtrace fleet query [OPTIONS] SQL|QUESTION";
constexpr const char* kFleetExamples =
    "Examples:\n"
    "  memtrace fleet traces/ -o fleet.parquet          one row for each trace\n"
    "  memtrace fleet query waste                       which jobs waste most reserved memory\n"
    "  memtrace fleet query \"SELECT script, max(peak_requested_bytes) FROM fleet GROUP BY 1\"\n"
    "  memtrace fleet query --show growth > mine.sql    a question to change\n"
    "\n"
    "memtrace fleet query \"DESCRIBE fleet\" lists the columns. DuckDB is not part of memtrace; "
    "install it with: pip install \"duckdb>=2,<3\"";

constexpr const char* kQuery = "query";
constexpr const char* kDefaultTable = "fleet.parquet";

struct FleetOptions {
  std::string folder;  // or "query"
  std::string sql;
  std::string output;
  bool force = false;
  std::vector<std::string> tables;
  bool list = false;
  bool show = false;
  bool csv = false;
  bool json = false;
};

// Returns the sentence about options that do not belong to the form of the command; "" if all do.
std::string WrongForm(const FleetOptions& options) {
  if (options.folder == kQuery) {
    if (!options.output.empty() || options.force)
      return Message("-o and -f write a table; memtrace fleet query prints to stdout");
    if (options.sql.empty() && !options.list)
      return Message("write SQL or the name of a question after query; --list lists the questions");
    return "";
  }
  if (!options.sql.empty() || !options.tables.empty() || options.list || options.show ||
      options.csv)
    return Message("SQL, --from, --list, --show and --csv belong to memtrace fleet query");
  if (options.output.empty() && !options.json)
    return Message("name the table to write with -o, or print the rows with --json");
  if (!options.output.empty() && options.json)
    return Message("-o writes a table and --json prints its rows; use one of them");
  return "";
}

int Ask(const FleetOptions& options) {
  if (options.list) return RunFleetProgram({"list"});
  if (options.show) return RunFleetProgram({"show", options.sql});
  const char* form = options.json ? "json" : options.csv ? "csv" : "text";
  std::vector<std::string> words = {kQuery, form, options.sql};
  words.insert(words.end(), options.tables.begin(), options.tables.end());
  if (options.tables.empty()) words.emplace_back(kDefaultTable);
  return RunFleetProgram(words);
}

int Fleet(const FleetOptions& options) {
  if (const std::string wrong = WrongForm(options); !wrong.empty()) {
    Note(wrong);
    return kUsage;
  }
  if (options.folder == kQuery) return Ask(options);
  if (options.json) return PrintFleet(options.folder);
  return WriteFleet(options.folder, options.output, options.force);
}

void DefineQuery(CLI::App& app, FleetOptions& options) {
  app.add_option("--from", options.tables,
                 "Table to ask (default: fleet.parquet); can be repeated, and may be a pattern "
                 "such as 'weeks/*.parquet'")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Query");
  app.add_flag("--list", options.list, "List the questions that come with memtrace")
      ->group("Query");
  app.add_flag("--show", options.show, "Print the SQL of a question instead of its answer")
      ->group("Query");
  CLI::Option* csv =
      app.add_flag("--csv", options.csv, "Print the answer as CSV, bytes as integers");
  csv->group("Output");
  app.add_flag("--json", options.json,
               "Print JSON (schema memtrace.fleet/1) instead of text; for a folder, a line for "
               "each trace")
      ->excludes(csv)
      ->group("Output");
}

}  // namespace

void DefineFleet(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<FleetOptions>();
  app.description(kFleetDescription);
  app.footer(kFleetExamples);
  app.add_option("FOLDER", options->folder,
                 "Folder of traces, searched with its subfolders; or the word query")
      ->required()
      ->group("Input");
  app.add_option("SQL", options->sql, "SQL about the table fleet, or the name of a question")
      ->group("Input");
  DefineQuery(app, *options);
  app.add_option("-o,--output", options->output, "Parquet file to write")
      ->type_name("OUT")
      ->group("Output");
  app.add_flag("-f,--force", options->force, "Overwrite OUT")->group("Output");
  app.callback([options, &exit_code] { exit_code = Fleet(*options); });
}

}  // namespace memtrace::command
