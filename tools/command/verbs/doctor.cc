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
#include "base/environment.h"
#include "messages/message.h"
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

constexpr const char* kDoctorDescription =
    "Show what is installed, and which calls of a run the simulated card lacks\n"
    "It shows the driver and its cards, torch, whether memtrace's allocator serves it, CUPTI,\n"
    "and the simulated card. For a trace, it lists the calls that failed because the\n"
    "simulated card does not support them.\n"
    "\n"
    "Usage: memtrace doctor [OPTIONS] [FILE]";
constexpr const char* kDoctorExamples =
    "Examples:\n"
    "  memtrace doctor                                  the installation\n"
    "  memtrace doctor run.trace                        the unsupported calls of a run\n"
    "  memtrace doctor --symbols                        what the card does for each CUDA call\n"
    "  memtrace doctor --hooks                          what memtrace replaces in a program";

struct DoctorOptions {
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
    Note((*package / "patches.txt").string() + " cannot be read. Install memtrace again.");
    return kEnvironment;
  }
  std::cout << list.rdbuf();
  return kDone;
}

std::string TorchText(const launch::TorchInstallation& torch) {
  if (torch.version.empty()) return Message("not installed beside the package");
  if (!torch.rocm.empty()) return Message("$0, built for AMD's ROCm $1", torch.version, torch.rocm);
  if (torch.cuda.empty()) return Message("$0, built without CUDA", torch.version);
  return Message("$0, built for CUDA $1", torch.version, torch.cuda);
}

// Returns which allocator serves programs of this torch, and what to do if it is not memtrace's.
std::string AllocatorText(const launch::Installation& installation) {
  const std::string minors = absl::StrJoin(installation.shims, ", ");
  if (installation.shims.empty())
    return Message("memtrace's allocator is not installed for any torch. Install the wheel again.");
  if (installation.torch.version.empty())
    return Message(
        "memtrace's allocator serves torch $0. Install memtrace where torch is installed.", minors);
  if (installation.torch.cuda.empty())
    return Message("There is no CUDA memory to serve. Install a torch that is built for CUDA.");
  if (installation.ServesTorch()) return Message("memtrace's allocator serves this torch.");
  if (!installation.torch.is_release())
    return Message(
        "memtrace's allocator serves only releases of torch. Programs with this torch keep torch's "
        "own allocator, and torch's history of its memory is recorded.");
  return Message(
      "memtrace's allocator serves torch $0. Programs with this torch keep torch's own allocator, "
      "and torch's history of its memory is recorded.",
      minors);
}

std::string CuptiText(const launch::TorchInstallation& torch) {
  if (torch.cupti.empty())
    return Message("not found beside torch; memtrace run --cupti needs its path in $0",
                   env::kCupti.name());
  return Message("$0. With it, memtrace run --cupti records what the GPU does.", torch.cupti);
}

// Both kinds of driver may be present; a process only ever gets one of them.
std::string DriverText(const launch::RealDriver& driver) {
  if (driver.file.empty())
    return Message("This machine has no NVIDIA driver. Programs need --card.");
  if (driver.cuda.empty())
    return Message("$0. With --card, only the simulated driver is used.", driver.file);
  return Message("$0, for CUDA up to $1. With --card, only the simulated driver is used.",
                 driver.file, driver.cuda);
}

// Says if the allocator gives its free memory to another library whose request the driver refuses.
std::string GiveWayText(const launch::Installation& installation) {
  if (!installation.has_preload)
    return Message(
        "lib/libmemtrace_preload.so is missing, so the allocator cannot give free memory to other "
        "libraries that find none. Install the wheel again.");
  return Message(
      "Under memtrace run, the allocator gives free memory to other libraries that find none. "
      "After memtrace.enable() alone it cannot, because it does not see that their calls fail.");
}

void PrintRow(const std::string& label, const std::string& text) {
  constexpr size_t kLabelColumns = 12;
  std::cout << report::LeftAligned(label, kLabelColumns) << text << "\n";
}

void PrintCards(const launch::RealDriver& driver) {
  if (!driver.trouble.empty())
    PrintRow(Message("cards"),
             Message("none; the driver reports: $0", report::Printable(driver.trouble)));
  for (const launch::RealCard& card : driver.cards) {
    PrintRow(Message("cards"),
             report::Printable(card.name) + ", " + report::FormatBytes(card.bytes));
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
  return absl::StrJoin(majors, ", ");
}

std::string SimulatedCardText(const launch::Installation& installation) {
  if (installation.symbols.empty())
    return Message("not installed; the package has no folder lib/simulated_card");
  std::set<std::string> libraries;
  for (const launch::CardSymbol& symbol : installation.symbols) libraries.insert(symbol.library);
  return CountedMessage(
      libraries.size(),
      "1 library stands in for CUDA $0. memtrace doctor --symbols lists what its calls do.",
      "$1 libraries stand in for CUDA $0. memtrace doctor --symbols lists what their calls do.",
      CudaVersionsOf(installation), report::FormatCount(libraries.size()));
}

// Returns a command that works on this machine.
std::string VerdictText(const launch::Installation& installation,
                        const launch::RealDriver& driver) {
  if (installation.torch.cuda.empty())
    return Message(
        "memtrace report FILE works here, and so does every command that needs no torch.");
  const std::string card = driver.cards.empty() ? "--card 24GiB " : "";
  return Message("This works here: $0", "memtrace run " + card + "-- python train.py");
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
  PrintRow(Message("package"), installation.package.string());
  PrintRow("torch", TorchText(installation.torch));
  PrintRow(Message("allocator"), AllocatorText(installation));
  if (installation.ServesTorch()) PrintRow(Message("give way"), GiveWayText(installation));
  PrintRow("CUPTI", CuptiText(installation.torch));
  PrintRow(Message("driver"), DriverText(driver));
  PrintCards(driver);
  PrintRow(Message("simulated"), SimulatedCardText(installation));
  std::cout << "\n" << VerdictText(installation, driver) << "\n";
  return kDone;
}

std::string UnsupportedCalls(const TraceInput& input) {
  analysis::Timeline timeline(input, 0);
  input.ForEach([&timeline](const trace::Event& event) { timeline.Apply(event); });
  const analysis::RunFacts run = input.Facts(timeline.annotations());
  if (!run.simulated)
    return Message("The run was on a real card, which supports what its driver supports.") + "\n";
  if (run.simulation.unsupported.empty())
    return Message("The simulated card supported every call of the run.") + "\n";
  std::string text;
  for (const auto& [name, count] : run.simulation.unsupported)
    text += Message("unsupported  $0  $1", report::Printable(name), count) + "\n";
  return text;
}

}  // namespace

void DefineDoctor(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  app.description(kDoctorDescription);
  app.footer(kDoctorExamples);
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
