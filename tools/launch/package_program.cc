// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/package_program.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/environment.h"
#include "base/status_macros.h"
#include "tools/launch/package_folder.h"
#include "tools/launch/program_file.h"

namespace memtrace::launch {

namespace fs = std::filesystem;

std::string PythonInterpreter() {
  std::error_code error;
  const std::string program = OwnProgram();
  const fs::path beside = fs::path(program).parent_path() / "python3";
  return !program.empty() && fs::exists(beside, error) ? beside.string() : "python3";
}

absl::StatusOr<LaunchPlan> PlanPackageProgram(const std::string& module,
                                              const std::vector<std::string>& arguments) {
  MEMTRACE_ASSIGN_OR_RETURN(const fs::path package, FindPackageFolder());
  absl::StatusOr<std::string> program = FindProgram(PythonInterpreter());
  if (!program.ok()) return program.status();
  LaunchPlan plan;
  plan.program = *std::move(program);
  plan.arguments = {plan.program, "-m", module};
  plan.arguments.insert(plan.arguments.end(), arguments.begin(), arguments.end());
  plan.environment = CurrentEnvironment();
  plan.environment[env::kSwitch.name()] = "0";
  std::string& path = plan.environment[env::kPythonPath.name()];
  const std::string folder = package.parent_path().string();
  path = path.empty() ? folder : folder + ":" + path;
  return plan;
}

}  // namespace memtrace::launch
