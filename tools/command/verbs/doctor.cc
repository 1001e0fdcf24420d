// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_join.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/command/inputs/trace_input.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/verbs/trace_verb.h"
#include "tools/command/verbs/verbs.h"
#include "tools/launch/installation.h"
#include "tools/launch/package_folder.h"
#include "tools/report/words/printable.h"

namespace memtrace::command {
namespace {

constexpr const char* kDescription =
    "Say what is installed, and what a run asked of the simulated card in vain\n"
    "The versions, the card's libraries and NVIDIA's driver; of a trace, the calls that failed\n"
    "because the card does not support them.\n"
    "\n"
    "Usage: memtrace doctor [OPTIONS] [FILE]";
constexpr const char* kExamples =
    "Examples:\n"
    "  memtrace doctor                                  the installation\n"
    "  memtrace doctor run.trace                        the unsupported calls of a run\n"
    "  memtrace doctor --symbols                        what becomes of each CUDA call on the "
    "card\n"
    "  memtrace doctor --hooks                          what memtrace goes round in a program";

struct Options {
  std::string file;
  bool symbols = false;
  bool hooks = false;
};

void PrintSymbols(const launch::Installation& installation) {
  for (const launch::CardSymbol& symbol : installation.symbols) {
    std::cout << symbol.library << ' ' << symbol.name << ' ' << symbol.kind
              << (symbol.note.empty() ? "" : ": " + symbol.note) << '\n';
  }
}

// Made with the package, of the calls that replace something.
int PrintHooks() {
  const absl::StatusOr<std::filesystem::path> package = launch::FindPackageFolder();
  if (!package.ok()) {
    Note(std::string(package.status().message()));
    return kEnvironment;
  }
  std::ifstream list(*package / "patches.txt");
  if (!list) {
    Note((*package / "patches.txt").string() + " cannot be read; install memtrace again");
    return kEnvironment;
  }
  std::cout << list.rdbuf();
  return kDone;
}

std::string TorchText(const launch::Installation& installation) {
  const std::string shims = installation.shims.empty()
                                ? "no torch at all; run cmake --install, or install the wheel"
                                : absl::StrJoin(installation.shims, ", ");
  const std::string version =
      installation.torch.empty() ? "not beside the package" : installation.torch;
  return version + "; memtrace's allocator is built for " + shims;
}

// Both may be present; a process only ever gets one of them.
std::string DriverText(const launch::Installation& installation) {
  if (installation.real_driver.empty())
    return "none of NVIDIA's on this machine: programs need --card";
  return installation.real_driver +
         ": used without --card; with --card the simulated one is, alone";
}

void PrintCard(const launch::Installation& installation) {
  std::map<std::string, std::map<std::string, int>> counts;
  for (const launch::CardSymbol& symbol : installation.symbols)
    ++counts[symbol.library][symbol.kind];
  if (counts.empty()) std::cout << "card     not installed: there is no lib/simulated_card\n";
  for (auto& [library, kinds] : counts) {
    std::cout << "card     " << library << ": " << kinds["full"] << " functions in full, "
              << kinds["partial"] << " in part, " << kinds["inert"] << " inert, "
              << kinds["unsupported"] << " unsupported\n";
  }
}

int PrintInstallation(bool symbols) {
  const absl::StatusOr<std::filesystem::path> package = launch::FindPackageFolder();
  if (!package.ok()) {
    Note(std::string(package.status().message()));
    return kEnvironment;
  }
  const launch::Installation installation = launch::FindInstallation(*package);
  if (symbols) {
    PrintSymbols(installation);
    return installation.symbols.empty() ? kEnvironment : kDone;
  }
  std::cout << "package  " << installation.package.string() << "\n"
            << "torch    " << TorchText(installation) << "\n";
  PrintCard(installation);
  std::cout << "driver   " << DriverText(installation) << "\n";
  return kDone;
}

std::string UnsupportedCalls(const TraceInput& input) {
  analysis::Timeline timeline(input, 0);
  input.ForEach([&timeline](const trace::Event& event) { timeline.Apply(event); });
  const analysis::RunFacts run = input.Facts(timeline.annotations());
  if (!run.simulated) return "the run was on a real card, which supports what its driver does\n";
  if (run.simulation.unsupported.empty())
    return "the simulated card supported everything that the run called\n";
  std::string text;
  for (const auto& [name, count] : run.simulation.unsupported)
    text += "unsupported  " + report::Printable(name) + "  " + std::to_string(count) + "\n";
  return text;
}

}  // namespace

void DefineDoctor(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<Options>();
  app.description(kDescription);
  app.footer(kExamples);
  CLI::Option* file = app.add_option("FILE", options->file, "A trace that memtrace run wrote");
  file->group("Input");
  CLI::Option* symbols = app.add_flag("--symbols", options->symbols,
                                      "List every symbol of the card: library, name, and "
                                      "full, partial with what is not done, inert or "
                                      "unsupported");
  symbols->group("Output");
  app.add_flag("--hooks", options->hooks,
               "List what memtrace goes round in Python, torch and "
               "other libraries, and why; what memtrace fit changes in "
               "its trials is not of it")
      ->excludes(file)
      ->excludes(symbols)
      ->group("Output");
  app.callback([options, &exit_code] {
    exit_code = options->hooks          ? PrintHooks()
                : options->file.empty() ? PrintInstallation(options->symbols)
                                        : PrintFromTrace({.file = options->file}, UnsupportedCalls);
    std::cout << std::flush;
  });
}

}  // namespace memtrace::command
