// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/launch_plan.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "allocator/plan/plan.h"
#include "base/environment.h"
#include "base/status_macros.h"
#include "interpose/simulated_card/spec/card_spec.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/coding/format.h"
#include "profiler/trace/events/amount.h"
#include "tools/launch/card_libraries.h"
#include "tools/launch/package_folder.h"
#include "tools/launch/program_file.h"

namespace memtrace::launch {
namespace {

namespace fs = std::filesystem;

absl::Status CheckCards(const std::vector<std::string>& specs) {
  for (const std::string& spec : specs) {
    std::vector<card::CardSpec> cards;
    std::string error;
    if (!card::ParseCardSpecs(spec, &cards, &error)) return absl::InvalidArgumentError(error);
  }
  return absl::OkStatus();
}

absl::Status CheckScript(const LaunchRequest& request, const std::string& program) {
  if (!IsPythonInterpreter(program)) return absl::OkStatus();
  const auto script = PythonScript(request.command);
  std::error_code ignored;
  if (!script || fs::exists(*script, ignored)) return absl::OkStatus();
  return absl::InvalidArgumentError("there is no script " + *script + "; the current folder is " +
                                    fs::current_path(ignored).string());
}

absl::Status CheckFolder(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    return absl::InvalidArgumentError("the folder for the trace does not exist: " +
                                      folder.string() + "; create it, or choose another with -o");
  }
  if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError("cannot write the trace into " + folder.string() + " (" +
                                    std::strerror(errno) + "); choose another folder with -o");
}

absl::Status CheckOutput(const fs::path& output, bool force) {
  std::error_code error;
  if (output.empty()) return CheckFolder(fs::current_path(error));
  if (fs::is_directory(output, error)) {
    return absl::InvalidArgumentError(output.string() +
                                      " is a folder; name the trace file to write, as in -o " +
                                      (output / "run.trace").string());
  }
  // This holds with -f as well: the file would be removed, and /dev/null belongs to the whole
  // machine.
  if (fs::exists(output, error) && !fs::is_regular_file(output, error)) {
    return absl::InvalidArgumentError(output.string() +
                                      " is not a regular file, but a trace must be one; name "
                                      "another file with -o, or record nothing with --no-trace");
  }
  if (fs::exists(fs::symlink_status(output, error)) && !force) {
    return absl::InvalidArgumentError(output.string() +
                                      " exists already; -f overwrites it, -o names another file");
  }
  return CheckFolder(output.parent_path());
}

void Prepend(Environment& environment, const std::string& name, const std::string& path) {
  std::string& value = environment[name];
  value = value.empty() ? path : path + ":" + value;
}

// Sets the variable, or erases it so that the value of an outer `memtrace run` does not leak in.
void SetOrErase(Environment& environment, const std::string& name, const std::string& value) {
  if (value.empty()) {
    environment.erase(name);
  } else {
    environment[name] = value;
  }
}

bool NamesFile(const std::string& host_values) {
  return !host_values.empty() && host_values != "on" && host_values != "off";
}

absl::Status CheckHostValues(const LaunchRequest& request) {
  const std::string& values = request.host_values;
  std::error_code error;
  if (NamesFile(values) && !fs::is_regular_file(values, error)) {
    return absl::InvalidArgumentError("--host-values: there is no file " + values +
                                      "; write on, off or the name of a file of answers");
  }
  if (!values.empty() && values != "off" && request.cards.empty()) {
    return absl::InvalidArgumentError("--host-values needs a simulated card; add --card");
  }
  if (values == "off" && request.generate_length > 0) {
    return absl::InvalidArgumentError(
        "--generate-length needs host values; remove --host-values off");
  }
  if (request.generate_length > 0 && request.cards.empty()) {
    return absl::InvalidArgumentError("--generate-length needs a simulated card; add --card");
  }
  return absl::OkStatus();
}

absl::Status CheckPlan(const LaunchRequest& request) {
  if (request.plan.empty()) return absl::OkStatus();
  if (request.allocator != "memtrace") {
    return absl::InvalidArgumentError("--plan needs memtrace's allocator; remove --allocator " +
                                      request.allocator);
  }
  absl::Status read = Plan::Read(request.plan).status();
  if (read.ok()) return read;
  return absl::InvalidArgumentError("--plan: " + std::string(read.message()) +
                                    "; memtrace plan makes a plan from a trace");
}

absl::Status CheckSpill(const LaunchRequest& request) {
  if (request.spill.empty()) return absl::OkStatus();
  if (!trace::BytesOf(request.spill)) {
    return absl::InvalidArgumentError("--spill: '" + request.spill +
                                      "' is not a size; write for example 16GiB");
  }
  if (request.allocator != "memtrace") {
    return absl::InvalidArgumentError("--spill needs memtrace's allocator; remove --allocator " +
                                      request.allocator);
  }
  if (request.no_trace) {
    return absl::InvalidArgumentError(
        "--spill needs a trace, which says what memory is for; remove --no-trace");
  }
  return absl::OkStatus();
}

absl::Status CheckKeep(const std::string& keep) {
  if (keep.empty()) return absl::OkStatus();
  const auto bytes = trace::BytesOf(keep);
  if (!bytes) {
    return absl::InvalidArgumentError("--keep: '" + keep +
                                      "' is not a size; write for example 256MiB");
  }
  if (*bytes >= trace::kLeastKeptBytes) return absl::OkStatus();
  return absl::InvalidArgumentError("--keep: " + keep + " is too little; keep at least " +
                                    std::to_string(trace::kLeastKeptBytes >> 20) + "MiB");
}

void AddHostValues(const LaunchRequest& request, Environment& environment) {
  const std::string& values = request.host_values;
  SetOrErase(environment, env::kHostValues.name(),
             values.empty()    ? ""
             : values == "off" ? "0"
                               : "1");
  SetOrErase(environment, env::kHostValuesPolicy.name(),
             NamesFile(values) ? fs::absolute(values).string() : "");
  SetOrErase(environment, env::kGenerateLength.name(),
             request.generate_length > 0 ? std::to_string(request.generate_length) : "");
}

// Returns the file by which the processes of this launch see what each holds on the simulated
// cards of their machine. It is never closed: it vanishes when this process ends, so there is
// nothing to clean up.
std::string SharedLedger(int machine) {
  static std::map<int, int> ledgers;
  const auto [ledger, is_new] = ledgers.emplace(machine, -1);
  if (is_new) ledger->second = memfd_create("memtrace-card", MFD_CLOEXEC);
  if (ledger->second < 0) return "";
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(ledger->second);
}

// Python's own start-up puts the card in place; other programs get it from the loader, which finds
// in the card's folder any library that they load by name or that their libraries need. The library
// that watches the driver comes before any driver.
void AddPreloadedLibraries(const LaunchRequest& request, const fs::path& package,
                           LaunchPlan& plan) {
  if (!request.cards.empty() && IsElfFile(plan.program) && !IsPythonInterpreter(plan.program)) {
    const fs::path card = package / "lib" / "simulated_card";
    for (const std::string& library : CardLibrariesFor(NeededLibraries(plan.program)))
      Prepend(plan.environment, "LD_PRELOAD", (card / library).string());
    Prepend(plan.environment, "LD_LIBRARY_PATH", card.string());
  }
  const fs::path watch = package / "lib" / "libmemtrace_preload.so";
  std::error_code ignored;
  if (fs::exists(watch, ignored)) Prepend(plan.environment, "LD_PRELOAD", watch.string());
}

void AddMemtrace(const LaunchRequest& request, const fs::path& package, LaunchPlan& plan) {
  Environment& environment = plan.environment;
  Prepend(environment, env::kPythonPath.name(), (package / "inject").string());
  environment[env::kHome.name()] = package.string();
  environment[env::kAllocator.name()] = request.allocator;
  // This is left over if a program made its own card and now calls `run`.
  environment.erase(env::kRecord.name());
  environment[env::kCommand.name()] =
      nlohmann::json(request.command)
          .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  SetOrErase(environment, env::kCard.name(), absl::StrJoin(request.cards, ";"));
  SetOrErase(environment, env::kCardEvents.name(), request.cards.empty() ? "" : request.events);
  SetOrErase(environment, env::kCardShared.name(),
             request.cards.empty() ? "" : SharedLedger(request.machine));
  if (!request.with.empty()) environment[env::kWith.name()] = request.with;
  if (request.with_what_can_be) environment[env::kWithWhatCanBe.name()] = "1";
  environment.erase(env::kRealRanks.name());
  environment.erase(env::kRanksAlike.name());
  SetOrErase(environment, env::kOutput.name(), plan.output);
  SetOrErase(environment, env::kTrace.name(), request.no_trace ? "0" : "");
  if (!request.keep.empty()) environment[env::kKeep.name()] = request.keep;
  if (request.no_paths) environment[env::kPaths.name()] = "0";
  if (request.no_source) environment[env::kSource.name()] = "0";
  if (request.keep_secrets) environment[env::kKeepSecrets.name()] = "1";
  if (request.cupti) environment[env::kCupti.name()] = "1";
  if (request.native_stacks) environment[env::kNativeStacks.name()] = "1";
  if (!request.spill.empty()) environment[env::kSpill.name()] = request.spill;
  if (!request.plan.empty()) environment[env::kPlan.name()] = fs::absolute(request.plan).string();
  AddHostValues(request, environment);
  AddPreloadedLibraries(request, package, plan);
}

}  // namespace

Environment CurrentEnvironment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return environment;
}

bool IsSwitchedOff(const Environment& environment) {
  const auto found = environment.find(env::kSwitch.name());
  return found != environment.end() && found->second == "0";
}

absl::StatusOr<LaunchPlan> PlanLaunch(const LaunchRequest& request, Environment environment) {
  MEMTRACE_RETURN_IF_ERROR(CheckCards(request.cards));
  absl::StatusOr<std::string> program = FindProgram(request.command.front());
  if (!program.ok()) return program.status();
  LaunchPlan plan;
  plan.program = *std::move(program);
  plan.arguments = request.command;
  plan.environment = std::move(environment);
  MEMTRACE_RETURN_IF_ERROR(CheckHostValues(request));
  MEMTRACE_RETURN_IF_ERROR(CheckPlan(request));
  MEMTRACE_RETURN_IF_ERROR(CheckKeep(request.keep));
  MEMTRACE_RETURN_IF_ERROR(CheckSpill(request));
  MEMTRACE_RETURN_IF_ERROR(CheckScript(request, plan.program));
  if (IsSwitchedOff(plan.environment)) return plan;
  if (!request.output.empty())
    plan.output = fs::absolute(request.output).lexically_normal().string();
  MEMTRACE_RETURN_IF_ERROR(CheckOutput(plan.output, request.force));
  MEMTRACE_ASSIGN_OR_RETURN(fs::path package, FindPackageFolder());
  AddMemtrace(request, package, plan);
  return plan;
}

}  // namespace memtrace::launch
