// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_replace.h"
#include "messages/message.h"
#include "tools/analysis/source/native_names.h"
#include "tools/command/help/suggestion.h"
#include "tools/command/inputs/memory_limit.h"
#include "tools/command/inputs/trace_input.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/output_file.h"
#include "tools/command/verbs/verbs.h"
#include "tools/interchange/writers/export_format.h"
#include "tools/launch/package_folder.h"
#include "tools/report/run_header.h"
#include "tools/report/words/command_words.h"

namespace memtrace::command {
namespace {

using interchange::ExportFormat;

constexpr const char* kExportDescription =
    "Write a trace in another tool's format\n"
    "Sizes, addresses, times, order, stacks and peaks are written as recorded. Roles may be\n"
    "inferred; formats that have room for it say which are.\n"
    "\n"
    "Usage: memtrace export --to FORMAT [OPTIONS] FILE";
constexpr const char* kExportExamples =
    "Examples:\n"
    "  memtrace export --to perfetto run.trace              run.perfetto-trace, for "
    "ui.perfetto.dev\n"
    "  memtrace export --to sqlite -o all.db run.trace      a database with another name\n"
    "  memtrace export --to csv -o - run.trace | head       to stdout";

struct ExportOptions {
  std::string file;
  std::string format;
  std::string output;
  bool force = false;
};

const ExportFormat* FindFormat(const std::string& name) {
  const auto& formats = interchange::ExportFormats();
  const auto found =
      std::find_if(formats.begin(), formats.end(),
                   [&name](const ExportFormat& format) { return format.name == name; });
  return found == formats.end() ? nullptr : &*found;
}

std::string FormatNames() {
  std::string names;
  for (const ExportFormat& format : interchange::ExportFormats()) {
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  }
  return names;
}

// Returns a check that accepts everything. Completions and man pages list these values ("a,b,c")
// for an option whose own error says more than CLI::IsMember's, or that also takes others.
CLI::Validator SuggestedValues(const std::string& joined) {
  return CLI::Validator([](std::string&) { return std::string(); }, "{" + joined + "}");
}

int RefuseFormat(const std::string& name) {
  std::vector<std::string> names;
  for (const ExportFormat& format : interchange::ExportFormats()) names.emplace_back(format.name);
  const std::string nearest = NearestOf(name, names);
  Note(nearest.empty() ? Message("there is no format '$0'; --to takes $1", name, FormatNames())
                       : Message("there is no format '$0' (did you mean '$1'?); --to takes $2",
                                 name, nearest, FormatNames()));
  return kUsage;
}

// Returns "run.csv" for "run.trace", in the current folder: the trace may lie in a folder of
// others.
std::string DefaultOutput(const std::string& input, const ExportFormat& format) {
  std::string name = input.substr(input.rfind('/') + 1);
  if (const size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0) name.resize(dot);
  return name + std::string(format.suffix);
}

std::string HowToOpen(const ExportFormat& format, const std::string& path) {
  std::string text(format.opened);
  const size_t at = text.find("FILE");
  if (at != std::string::npos) text.replace(at, 4, report::ShellWord(path));
  return text;
}

absl::Status Stream(const ExportFormat& format, const interchange::ExportedRun& run,
                    int descriptor) {
  interchange::DescriptorSink sink(descriptor);
  format.stream(run, sink);
  return sink.Close();
}

absl::Status WriteNew(const ExportFormat& format, const interchange::ExportedRun& run,
                      const std::string& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return absl::UnavailableError(std::strerror(errno));
  absl::Status status = Stream(format, run, descriptor);
  if (close(descriptor) != 0 && status.ok()) status = absl::UnavailableError(std::strerror(errno));
  return status;
}

// Returns "run.events.parquet" for "run.parquet".
std::string WithInfix(const std::string& path, std::string_view suffix, std::string_view infix) {
  if (infix.empty()) return path;
  const bool ends = path.ends_with(suffix);
  const std::string stem = ends ? path.substr(0, path.size() - suffix.size()) : path;
  return stem + std::string(infix) + std::string(suffix);
}

std::vector<std::string> OutputNames(const ExportFormat& format, const std::string& path) {
  if (format.files.empty()) return {path};
  std::vector<std::string> names;
  names.reserve(format.files.size());
  for (const interchange::ExportFile& file : format.files) {
    names.push_back(WithInfix(path, format.suffix, file.infix));
  }
  return names;
}

// Returns the folder of libraries that are opened on demand; one that does not exist if there is no
// package.
std::string PartsFolder() {
  const auto package = launch::FindPackageFolder();
  return package.ok() ? (*package / "lib").string() : std::string("/nonexistent");
}

int RefuseWriting(const std::string& name, const absl::Status& status) {
  // The error of a part that is not installed says what to do.
  if (status.code() == absl::StatusCode::kFailedPrecondition) {
    Note(std::string(status.message()));
  } else {
    Note("cannot write " + name + " (" + std::string(status.message()) +
         "); no part of it was kept; choose another file with -o");
  }
  return kEnvironment;
}

int Finish(const TraceInput& input) {
  const trace::Completeness& completeness = input.completeness();
  if (!completeness.whole()) Note(report::PartialBanner(completeness));
  return input.exit_code();
}

int ToStdout(const ExportFormat& format, const TraceInput& input,
             const interchange::ExportedRun& run) {
  const absl::Status written = Stream(format, run, STDOUT_FILENO);
  if (!written.ok()) {
    Note("cannot write to stdout (" + std::string(written.message()) + ")");
    return kEnvironment;
  }
  return Finish(input);
}

int ToFiles(const ExportFormat& format, const TraceInput& input,
            const interchange::ExportedRun& run, const std::vector<std::string>& names) {
  std::deque<OutputFile> outputs;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& temporary = outputs.emplace_back(names[i]).temporary();
    const absl::Status status = format.files.empty()
                                    ? WriteNew(format, run, temporary)
                                    : format.files[i].write(run, temporary, PartsFolder());
    if (!status.ok()) return RefuseWriting(names[i], status);
  }
  std::string written;
  for (size_t i = 0; i < names.size(); ++i) {
    if (absl::Status status = outputs[i].Keep(); !status.ok()) {
      Note(std::string(status.message()));
      return kEnvironment;
    }
    written += (i == 0 ? "" : " and ") + names[i];
  }
  Note("wrote " + written + "; open it with " + HowToOpen(format, names.back()));
  return Finish(input);
}

int Export(const ExportOptions& options) {
  const ExportFormat* format = FindFormat(options.format);
  if (format == nullptr) return RefuseFormat(options.format);
  const bool to_stdout = options.output == "-";
  if (to_stdout && format->stream == nullptr) {
    Note("--to " + options.format + " cannot write to stdout; name a file with -o");
    return kUsage;
  }
  const std::string path =
      options.output.empty() ? DefaultOutput(options.file, *format) : options.output;
  const absl::StatusOr<TraceInput> input = TraceInput::Open(options.file);
  if (!input.ok()) {
    Note(std::string(input.status().message()));
    return kUnreadable;
  }
  const std::vector<std::string> names = OutputNames(*format, path);
  for (const std::string& name : names) {
    if (to_stdout) break;
    const absl::Status wrong = OutputFile(name).Check(options.force);
    if (!wrong.ok()) {
      Note(std::string(wrong.message()));
      return kUsage;
    }
  }
  const interchange::Survey survey(*input);
  const analysis::RunFacts facts = input->Facts(survey.timeline().annotations());
  const analysis::NativeNames named(*input);
  const interchange::ExportedRun run{named, survey, facts};
  return to_stdout ? ToStdout(*format, *input, run) : ToFiles(*format, *input, run, names);
}

}  // namespace

void DefineExport(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<ExportOptions>();
  app.description(kExportDescription);
  app.footer(kExportExamples);
  app.add_option("FILE", options->file,
                 "Trace that memtrace run wrote, or memory snapshot of torch")
      ->required()
      ->group("Input");
  app.add_option("--to", options->format,
                 "Format: snapshot (of torch), perfetto, pprof, speedscope, collapsed, chrome, "
                 "sqlite, parquet, csv or jsonl")
      ->required()
      ->type_name("FORMAT")
      ->check(SuggestedValues(absl::StrReplaceAll(FormatNames(), {{" ", ""}})))
      ->group("Output");
  app.add_option("-o,--output", options->output,
                 "File to write, or - for stdout (default: FILE with the format's extension, in "
                 "this folder)")
      ->type_name("OUT")
      ->group("Output");
  app.add_flag("-f,--force", options->force, "Overwrite OUT")->group("Output");
  app.callback([options, &exit_code] {
    const ExportFormat* format = FindFormat(options->format);
    const auto run = [&options] { return Export(*options); };
    // Not limited are Arrow, which has threads, and SQLite, which has a cache of its own.
    const bool is_ours = format != nullptr && format->stream != nullptr;
    exit_code = is_ours ? WithinMemoryLimit({options->file}, run) : run();
  });
}

}  // namespace memtrace::command
