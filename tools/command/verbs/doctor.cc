// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <string_view>

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
#include "tools/launch/real_cards.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::command {
namespace {

constexpr const char* kDescription =
    "Show what is installed, and which calls of a run the simulated card lacks\n"
    "It shows the driver and its cards, torch, whether memtrace's allocator serves it, CUPTI,\n"
    "and the simulated card. For a trace, it lists the calls that failed because the\n"
    "simulated card does not support them.\n"
    "\n"
    "Usage: memtrace doctor [OPTIONS] [FILE]";
constexpr const char* kExamples =
    "Examples:\n"
    "  memtrace doctor                                  the installation\n"
    "  memtrace doctor run.trace                        the unsupported calls of a run\n"
    "  memtrace doctor --symbols                        what the card does for each CUDA call\n"
    "  memtrace doctor --hooks                          what memtrace replaces in a program";

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

// Prints the list, made with the package, of the calls that its hooks replace.
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

std::string TorchText(const launch::TorchInstallation& torch) {
  if (torch.version.empty()) return "none beside the package";
  if (!torch.rocm.empty()) return torch.version + ", built for AMD's ROCm " + torch.rocm;
  return torch.version +
         (torch.cuda.empty() ? ", built without CUDA" : ", built for CUDA " + torch.cuda);
}

// Returns which allocator serves programs of this torch, and what to do if it is not memtrace's.
std::string AllocatorText(const launch::Installation& installation) {
  const std::string minors = absl::StrJoin(installation.shims, ", ");
  if (installation.shims.empty())
    return "memtrace's allocator is not installed for any torch; install the wheel again";
  if (installation.torch.version.empty())
    return "memtrace's allocator serves torch " + minors +
           "; install memtrace where torch is installed";
  if (installation.torch.cuda.empty())
    return "there is no memory of CUDA to serve; install a torch that is built for CUDA";
  if (installation.ServesTorch()) return "memtrace's allocator serves this torch";
  if (!installation.torch.is_release())
    return "memtrace's allocator serves releases of torch only; programs of this one keep torch's "
           "own, and torch's history of it is recorded";
  return "memtrace's allocator serves torch " + minors +
         "; programs of this one keep torch's own, and torch's history of it is recorded";
}

std::string CuptiText(const launch::TorchInstallation& torch) {
  if (torch.cupti.empty())
    return "none beside torch: memtrace run --cupti needs one, by its path in MEMTRACE_CUPTI";
  return torch.cupti + ": memtrace run --cupti records what the GPU does";
}

// Both kinds of driver may be present; a process only ever gets one of them.
std::string DriverText(const launch::RealDriver& driver) {
  if (driver.file.empty()) return "none of NVIDIA's on this machine: programs need --card";
  const std::string serves = driver.cuda.empty() ? "" : ", serves CUDA up to " + driver.cuda;
  return driver.file + serves + "; with --card the simulated one is used, alone";
}

void PrintCards(const launch::RealDriver& driver) {
  if (!driver.trouble.empty())
    std::cout << "cards       none: the driver says: " << report::Printable(driver.trouble) << "\n";
  for (const launch::RealCard& card : driver.cards) {
    std::cout << "cards       " << report::Printable(card.name) << ", "
              << report::FormatBytes(card.bytes) << "\n";
  }
}

// Returns the CUDA versions in the names libcudart.so.12 and libcudart.so.13.
std::string CudaVersionsOf(const launch::Installation& installation) {
  constexpr std::string_view kRuntime = "libcudart.so.";
  std::set<std::string> majors;
  for (const launch::CardSymbol& symbol : installation.symbols) {
    if (symbol.library.rfind(kRuntime, 0) == 0)
      majors.insert(symbol.library.substr(kRuntime.size()));
  }
  return absl::StrJoin(majors, " and ");
}

std::string SimulatedCardText(const launch::Installation& installation) {
  if (installation.symbols.empty()) return "not installed: there is no lib/simulated_card";
  std::set<std::string> libraries;
  for (const launch::CardSymbol& symbol : installation.symbols) libraries.insert(symbol.library);
  return "stands in for CUDA " + CudaVersionsOf(installation) + ", " +
         std::to_string(libraries.size()) +
         " libraries; memtrace doctor --symbols lists what each does";
}

// Returns a command that works on this machine.
std::string VerdictText(const launch::Installation& installation,
                        const launch::RealDriver& driver) {
  const bool has_torch = !installation.torch.cuda.empty();
  if (!has_torch) return "memtrace report FILE, and whatever else needs no torch";
  const std::string card = driver.cards.empty() ? "--card 24GiB " : "";
  return "memtrace run " + card + "-- python train.py";
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
  const launch::RealDriver driver = launch::AskRealDriver();
  std::cout << "package     " << installation.package.string() << "\n"
            << "torch       " << TorchText(installation.torch) << "\n"
            << "allocator   " << AllocatorText(installation) << "\n"
            << "CUPTI       " << CuptiText(installation.torch) << "\n"
            << "driver      " << DriverText(driver) << "\n";
  PrintCards(driver);
  std::cout << "simulated   " << SimulatedCardText(installation) << "\n"
            << "\nWhat works here: " << VerdictText(installation, driver) << "\n";
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
  CLI::Option* file = app.add_option("FILE", options->file, "Trace that memtrace run wrote");
  file->group("Input");
  CLI::Option* symbols = app.add_flag("--symbols", options->symbols,
                                      "List every symbol of the simulated card: library, name, and "
                                      "full, partial (with what is missing), inert or unsupported");
  symbols->group("Output");
  app.add_flag("--hooks", options->hooks,
               "List what memtrace replaces in Python, torch and other libraries, and why; the "
               "changes that memtrace fit tries are not listed")
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
