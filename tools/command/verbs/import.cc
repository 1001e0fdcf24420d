// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "tools/command/inputs/foreign_file.h"
#include "tools/command/inputs/memory_limit.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/output_file.h"
#include "tools/command/program/whole_file.h"
#include "tools/command/verbs/verbs.h"
#include "tools/interchange/importers/gunzip.h"
#include "tools/interchange/importers/imported_run.h"
#include "tools/interchange/importers/write_trace.h"

namespace memtrace::command {
namespace {

using interchange::ImportedRun;
using interchange::ImportFormat;

constexpr const char* kImportDescription =
    "Convert what another tool recorded into a trace\n"
    "It reads torch.profiler's JSON (profile_memory=True, also .gz) or an RMM log.\n"
    "stats, report and export then read the trace. What the file does not contain, such as roles "
    "and owners, stays unknown.\n"
    "\n"
    "Usage: memtrace import [OPTIONS] FILE";
constexpr const char* kImportExamples =
    "Examples:\n"
    "  memtrace import profile.json                     writes profile.trace\n"
    "  memtrace import rmm_log.csv -o run.trace         writes run.trace";

struct ImportOptions {
  std::string file;
  std::string output;
  bool force = false;
};

std::string DefaultOutput(const std::string& input) {
  std::string name = input.substr(input.rfind('/') + 1);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (const size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0) name.resize(dot);
  return name + ".trace";
}

int Unreadable(const absl::Status& status) {
  Note(std::string(status.message()));
  return kUnreadable;
}

absl::StatusOr<std::unique_ptr<ImportedRun>> Open(const std::string& path,
                                                  const std::string& bytes) {
  const ImportFormat* format = interchange::RecogniseFormat(bytes);
  if (format == nullptr) {
    if (bytes.starts_with("memtrace"))
      return absl::InvalidArgumentError(
          path + " is already a trace; memtrace stats and memtrace report read it");
    std::string names;
    for (const ImportFormat& each : interchange::ImportFormats()) {
      names += (names.empty() ? "" : " or ") + std::string(each.name);
    }
    return absl::InvalidArgumentError(path + " cannot be imported: it is not " + names +
                                      AdviceOn(bytes));
  }
  auto run = format->open(bytes);
  if (run.ok()) return run;
  return absl::InvalidArgumentError(path + " begins like " + std::string(format->name) +
                                    ", but cannot be read: " + std::string(run.status().message()));
}

// `is_cut` is true if the file could be unpacked no further than these bytes.
int Write(const ImportedRun& run, const ImportOptions& options, const std::string& path,
          bool is_cut) {
  OutputFile output(path);
  absl::Status status = interchange::WriteTrace(run, run.Info(), output.temporary());
  if (status.ok()) status = output.Keep();
  if (!status.ok()) {
    Note("cannot write " + path + " (" + std::string(status.message()) +
         "); no part of it was kept; choose another file with -o");
    return kEnvironment;
  }
  for (const std::string& note : run.notes()) Note(options.file + ": " + note);
  Note("wrote " + path + "; next: memtrace report " + path);
  if (run.fault().empty() && !is_cut) return kDone;
  Note("PARTIAL: only the part of " + options.file + " before this fault was imported: " +
       (run.fault().empty() ? "its end cannot be unpacked" : run.fault()));
  return kPartial;
}

int ImportBytes(const ImportOptions& options, const std::string& path, const std::string& bytes,
                bool is_cut) {
  const auto run = Open(options.file, bytes);
  if (!run.ok()) return Unreadable(run.status());
  return Write(**run, options, path, is_cut);
}

// JSON is packed to a tenth or a thirtieth of its size. A file that grows far more was made to.
int ImportPacked(const ImportOptions& options, const std::string& path, const std::string& packed) {
  const uint64_t most = 100 * uint64_t{packed.size()} + (uint64_t{64} << 20);
  const absl::StatusOr<interchange::Unpacked> unpacked = interchange::Gunzip(packed, most);
  if (!unpacked.ok())
    return Unreadable(absl::InvalidArgumentError(options.file + " is a gzip file, but " +
                                                 std::string(unpacked.status().message())));
  return WithinMemoryLimitOf(unpacked->bytes.size(), options.file, [&] {
    return ImportBytes(options, path, unpacked->bytes, unpacked->is_cut);
  });
}

int Import(const ImportOptions& options) {
  const std::string path = options.output.empty() ? DefaultOutput(options.file) : options.output;
  if (absl::Status wrong = OutputFile(path).Check(options.force); !wrong.ok()) {
    Note(std::string(wrong.message()));
    return kUsage;
  }
  const absl::StatusOr<std::string> bytes = ReadWhole(options.file);
  if (!bytes.ok()) return Unreadable(bytes.status());
  if (interchange::IsGzip(*bytes)) return ImportPacked(options, path, *bytes);
  return WithinMemoryLimit({options.file},
                           [&] { return ImportBytes(options, path, *bytes, false); });
}

}  // namespace

void DefineImport(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<ImportOptions>();
  app.description(kImportDescription);
  app.footer(kImportExamples);
  app.add_option("FILE", options->file, "File that the other tool wrote")
      ->required()
      ->group("Input");
  app.add_option("-o,--output", options->output,
                 "Trace to write (default: FILE with the extension .trace, in this folder)")
      ->type_name("TRACE")
      ->group("Output");
  app.add_flag("-f,--force", options->force, "Overwrite TRACE")->group("Output");
  app.callback([options, &exit_code] { exit_code = Import(*options); });
}

}  // namespace memtrace::command
