// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "tools/command/help/command_tree.h"
#include "tools/command/help/man_page.h"
#include "tools/command/help/shell_completion.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/verbs/verbs.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManDescription =
    "Write the man pages and completions, as an installation has them\n"
    "The build uses it. Files are below DIR as they are below share/ of an installation.\n"
    "\n"
    "Usage: memtrace man DIR";

bool Write(const fs::path& file, const std::string& text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) Note("cannot write " + file.string());
  return static_cast<bool>(out);
}

int WriteAll(const CommandFacts& program, const fs::path& folder) {
  bool done = Write(folder / "bash-completion/completions/memtrace", BashCompletion(program)) &&
              Write(folder / "zsh/site-functions/_memtrace", ZshCompletion(program)) &&
              Write(folder / "fish/vendor_completions.d/memtrace.fish", FishCompletion(program)) &&
              Write(folder / "man/man1/memtrace.1", ManPage(program, program));
  for (const CommandFacts& verb : program.verbs) {
    const std::string name = ManPageName(program, verb) + ".1";
    done = done && Write(folder / "man/man1" / name, ManPage(program, verb));
  }
  return done ? kDone : kEnvironment;
}

}  // namespace

void DefineMan(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto folder = std::make_shared<std::string>();
  app.description(kManDescription);
  app.group("");  // hidden
  app.add_option("DIR", *folder, "Folder to write to")->required()->group("Output");
  app.callback([folder, &app, &exit_code] {
    exit_code = WriteAll(DescribeCommand(*app.get_parent()), *folder);
  });
}

}  // namespace memtrace::command
