// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "CLI/CLI.hpp"
#include "messages/language.h"
#include "profiler/trace/reading/trace_repair.h"
#include "tools/command/inputs/memory_limit.h"
#include "tools/command/inputs/trace_input.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/output_file.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/run_header.h"
#include "tools/report/words/quantity.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRepairDescription =
    "Write the readable part of a damaged trace as a whole trace\n"
    "The new trace says which trace it was made from and what is missing. The damaged trace\n"
    "is not changed.\n"
    "\n"
    "Usage: memtrace repair [OPTIONS] FILE -o OUT";
constexpr const char* kRepairExamples =
    "Examples:\n"
    "  memtrace repair run.trace -o repaired.trace      nothing is written if run.trace is whole\n"
    "  memtrace verify run.trace                        what is wrong with it\n"
    "\n"
    "The exit status is 4 if something was lost, and 0 if the trace is whole.";

struct RepairOptions {
  std::string file;
  std::string output;
  bool force = false;
};

int Refuse(const std::string& sentence, int code) {
  Note(sentence);
  return code;
}

// Names the file without its folder: a repaired trace reveals no more than before (--no-paths). The
// statement becomes part of the trace, so it is English.
std::string StatementOn(const trace::TraceReader& reader, const std::string& file) {
  const ScopedLanguage english(Language::kEnglish);
  return fs::path(file).filename().string() + ": " + report::DamageText(reader.completeness());
}

int Write(const trace::TraceReader& reader, const RepairOptions& options) {
  OutputFile output(options.output);
  const auto repair =
      trace::RepairTrace(reader, StatementOn(reader, options.file), output.temporary());
  absl::Status status = repair.status();
  if (repair.ok() && repair->kept_events == 0)
    return Refuse(options.file + " has no event that can be read; nothing was written",
                  kUnreadable);
  if (status.ok()) status = output.Keep();
  if (!status.ok())
    return Refuse("cannot write " + options.output + " (" + std::string(status.message()) +
                      "); no part of it was kept; choose another file with -o",
                  kEnvironment);
  const std::string lost = repair->lost_events == 0
                               ? "no lost event is known"
                               : "it lacks at least " + report::FormatCount(repair->lost_events) +
                                     " of the recorded events";
  Note("wrote " + options.output + " with " + report::FormatCount(repair->kept_events) +
       " events; " + lost + ". " + report::DamageText(reader.completeness()) +
       " Next: memtrace report " + options.output);
  return kPartial;
}

int RepairFile(const RepairOptions& options) {
  if (IsPickle(options.file))
    return Refuse(options.file +
                      " is a pickle, not a trace; memtrace export --to snapshot writes the "
                      "readable part of a memory snapshot as a whole one",
                  kUsage);
  const absl::StatusOr<trace::TraceReader> reader = OpenTrace(options.file);
  if (!reader.ok()) return Refuse(std::string(reader.status().message()), kUnreadable);
  if (reader->completeness().whole())
    return Refuse(options.file + " is whole; there is nothing to repair, and nothing was written",
                  kDone);
  std::error_code ignored;
  if (fs::equivalent(options.file, options.output, ignored))
    return Refuse(options.output + " is the damaged trace itself; name another file with -o",
                  kUsage);
  const absl::Status wrong = OutputFile(options.output).Check(options.force);
  if (!wrong.ok()) return Refuse(std::string(wrong.message()), kUsage);
  return Write(*reader, options);
}

}  // namespace

void DefineRepair(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<RepairOptions>();
  app.description(kRepairDescription);
  app.footer(kRepairExamples);
  app.add_option("FILE", options->file, "Trace that memtrace run wrote")
      ->required()
      ->group("Input");
  app.add_option("-o,--output", options->output, "Trace to write")
      ->required()
      ->type_name("OUT")
      ->group("Output");
  app.add_flag("-f,--force", options->force, "Overwrite OUT")->group("Output");
  app.callback([options, &exit_code] {
    exit_code = WithinMemoryLimit({options->file}, [&] { return RepairFile(*options); });
  });
}

}  // namespace memtrace::command
