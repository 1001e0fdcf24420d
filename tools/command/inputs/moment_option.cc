// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/moment_option.h"

#include <string>

#include "CLI/CLI.hpp"
#include "tools/command/inputs/number_check.h"

namespace memtrace::command {

analysis::MomentSpec ParseMomentOption(const std::string& text) {
  const absl::StatusOr<analysis::MomentSpec> spec = analysis::ParseMomentSpec(text);
  if (!spec.ok()) throw CLI::ValidationError(std::string(spec.status().message()));
  return *spec;
}

void AddMomentOptions(CLI::App& app, MomentOption& option) {
  CLI::Option* at = app.add_option_function<std::string>(
      "--at", [&option](const std::string& text) { option.spec = ParseMomentOption(text); },
      std::string(kMomentHelp));
  CLI::Option* oom = app.add_option_function<uint64_t>(
      "--oom",
      [&option](uint64_t number) {
        option.spec = {analysis::MomentSpec::Kind::kFailure, number};
      },
      "The Nth out-of-memory error, counted from 1; the same as --at oom:N");
  at->type_name("MOMENT")->group("Input");
  oom->type_name("N")->check(CountFromOne())->excludes(at)->group("Input");
}

}  // namespace memtrace::command
