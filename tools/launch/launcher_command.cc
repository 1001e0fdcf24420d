// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/launcher_command.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "tools/launch/program_file.h"

namespace memtrace::launch {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

// torch/distributed/run.py of torch 2.5 to 2.11. Each option may be written with - or _.
constexpr std::array<std::string_view, 24> kWithValue = {"nnodes",
                                                         "nproc-per-node",
                                                         "rdzv-backend",
                                                         "rdzv-endpoint",
                                                         "rdzv-id",
                                                         "rdzv-conf",
                                                         "max-restarts",
                                                         "monitor-interval",
                                                         "start-method",
                                                         "event-log-handler",
                                                         "role",
                                                         "log-dir",
                                                         "redirects",
                                                         "tee",
                                                         "local-ranks-filter",
                                                         "node-rank",
                                                         "master-addr",
                                                         "master-port",
                                                         "local-addr",
                                                         "logs-specs",
                                                         "numa-binding",
                                                         "signals-to-handle",
                                                         "duplicate-stdout-filters",
                                                         "duplicate-stderr-filters"};
constexpr std::array<std::string_view, 2> kFlags = {"standalone", "use-env"};

// The launcher's words, cut into what it takes for itself and what it starts.
struct Parts {
  Words interpreter;  // python and its own options
  bool is_module = false;
  bool has_python = true;
  std::string ranks_per_machine;
  std::string machines;
  Words program;
};

template <typename Table>
bool Has(const Table& table, std::string_view name) {
  return std::find(table.begin(), table.end(), name) != table.end();
}

// Returns the number of words before the launcher's options; 0 if the command starts no launcher.
size_t LauncherWords(const Words& command) {
  if (fs::path(command.front()).filename() == "torchrun") return 1;
  if (!IsPythonInterpreter(command.front())) return 0;
  for (size_t i = 1; i + 1 < command.size() && command[i].starts_with('-'); ++i) {
    if (command[i] == "-X" || command[i] == "-W") ++i;  // these take the next word
    if (command[i] != "-m" || i + 1 == command.size()) continue;
    const std::string& module = command[i + 1];
    const bool is_launcher =
        module == "torch.distributed.run" || module == "torch.distributed.launch";
    return is_launcher ? i + 2 : 0;
  }
  return 0;
}

// Launchers that would start all ranks, or ranks of their own.
constexpr std::array<std::string_view, 6> kOtherLaunchers = {
    "accelerate", "deepspeed", "mpiexec", "mpirun", "srun", "horovodrun"};

absl::Status CheckLauncher(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  if (!Has(kOtherLaunchers, name)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--world starts the ranks itself, instead of ", name,
                   "; write the command of one rank: python SCRIPT ARGS"));
}

// Returns the interpreter that torchrun belongs to, which stands beside it.
Words InterpreterOf(const Words& command, size_t launcher_words) {
  if (launcher_words > 1) {
    const auto end = command.begin() + static_cast<std::ptrdiff_t>(launcher_words) - 2;
    return Words(command.begin(), end);
  }
  const absl::StatusOr<std::string> launcher = FindProgram(command.front());
  if (!launcher.ok()) return {"python"};
  const fs::path beside = fs::path(*launcher).parent_path() / "python";
  std::error_code ignored;
  return {fs::exists(beside, ignored) ? beside.string() : "python"};
}

absl::Status UnknownOption(const std::string& word) {
  return absl::InvalidArgumentError(
      absl::StrCat("--world: the launcher's option ", word,
                   " is not known; write the command of one rank: python SCRIPT ARGS"));
}

// Takes one option at *at. Short forms: -m, -r and -t.
absl::Status TakeOption(const Words& command, size_t* at, Parts* parts) {
  const std::string& word = command[(*at)++];
  if (word == "-m" || word == "--module") {
    parts->is_module = true;
    return absl::OkStatus();
  }
  const size_t equals = word.find('=');
  std::string name = absl::StrReplaceAll(word.substr(0, equals), {{"_", "-"}});
  if (name == "-r" || name == "-t") name = name == "-r" ? "--redirects" : "--tee";
  if (!name.starts_with("--")) return UnknownOption(word);
  name.erase(0, 2);
  if (name == "no-python") parts->has_python = false;
  if (name == "no-python" || Has(kFlags, name)) return absl::OkStatus();
  if (!Has(kWithValue, name)) return UnknownOption(word);
  if (equals == word.npos && *at == command.size()) return UnknownOption(word);
  const std::string value = equals == word.npos ? command[(*at)++] : word.substr(equals + 1);
  if (name == "nproc-per-node") parts->ranks_per_machine = value;
  if (name == "nnodes") parts->machines = value;
  return absl::OkStatus();
}

// Values that are no numbers (gpu, auto, 1:4) leave the choice to the launcher.
absl::Status CheckNumber(const std::string& option, const std::string& value, int wanted) {
  int number = 0;
  if (!absl::SimpleAtoi(value, &number) || number == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(option, " ", value,
                                                 " does not agree with --world and --card, which "
                                                 "give ",
                                                 wanted, ": write ", option, " ", wanted,
                                                 ", or change --world or --card"));
}

}  // namespace

absl::StatusOr<Words> CommandOfRank(const Words& command, const JobRanks& job) {
  MEMTRACE_RETURN_IF_ERROR(CheckLauncher(command.front()));
  size_t at = LauncherWords(command);
  if (at == 0) return command;
  Parts parts;
  parts.interpreter = InterpreterOf(command, at);
  while (at < command.size() && command[at].starts_with('-'))
    MEMTRACE_RETURN_IF_ERROR(TakeOption(command, &at, &parts));
  parts.program.assign(command.begin() + static_cast<std::ptrdiff_t>(at), command.end());
  if (parts.program.empty())
    return absl::InvalidArgumentError("--world: the launcher's command names no script");
  MEMTRACE_RETURN_IF_ERROR(
      CheckNumber("--nproc-per-node", parts.ranks_per_machine, job.RanksOn(0)));
  MEMTRACE_RETURN_IF_ERROR(CheckNumber("--nnodes", parts.machines, job.Machines()));
  Words words = parts.has_python ? std::move(parts.interpreter) : Words();
  if (parts.is_module) words.push_back("-m");
  words.insert(words.end(), parts.program.begin(), parts.program.end());
  return words;
}

}  // namespace memtrace::launch
