// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "tools/command/help/command_tree.h"
#include "tools/command/help/shell_completion.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/verbs/verbs.h"

namespace memtrace::command {
namespace {

constexpr const char* kCompletionDescription =
    "Print the script by which a shell completes memtrace's commands\n"
    "\n"
    "Usage: memtrace completion SHELL";
constexpr const char* kCompletionExamples =
    "Examples:\n"
    "  source <(memtrace completion bash)               in ~/.bashrc\n"
    "  source <(memtrace completion zsh)                in ~/.zshrc, after compinit\n"
    "  memtrace completion fish | source                in ~/.config/fish/config.fish";

int Print(const CommandFacts& program, const std::string& shell) {
  std::cout << (shell == "bash"  ? BashCompletion(program)
                : shell == "zsh" ? ZshCompletion(program)
                                 : FishCompletion(program))
            << std::flush;
  return kDone;
}

}  // namespace

void DefineCompletion(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  app.description(kCompletionDescription);
  app.footer(kCompletionExamples);
  app.add_option("SHELL", *shell, "Shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->group("Input");
  app.callback(
      [shell, &app, &exit_code] { exit_code = Print(DescribeCommand(*app.get_parent()), *shell); });
}

}  // namespace memtrace::command
