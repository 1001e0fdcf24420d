// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/row_options.h"

#include <string_view>

#include "CLI/CLI.hpp"

namespace memtrace::command {
namespace {

std::string Listed(const std::vector<report::TreeLevel>& levels) {
  std::string text;
  for (const report::TreeLevel level : levels)
    text += (text.empty() ? "" : ",") + std::string(report::LevelName(level));
  return text;
}

}  // namespace

void AddLevelsOption(CLI::App& app, const std::string& what,
                     std::vector<report::TreeLevel>& levels) {
  app.add_option_function<std::string>(
         "--by",
         [&levels](const std::string& text) {
           const auto parsed = report::ParseTreeLevels(text);
           if (!parsed.ok()) throw CLI::ValidationError(std::string(parsed.status().message()));
           levels = *parsed;
         },
         what + ": role, owner, module, site and step (default: " + Listed(levels) + ")")
      ->type_name("LEVELS")
      ->group("Output");
}

void AddRowsOption(CLI::App& app, size_t& rows) {
  app.add_option("--rows", rows,
                 "Print only the N largest rows (default: " + std::to_string(rows) + "; 0: all)")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000).description(""))
      ->group("Output");
}

}  // namespace memtrace::command
