// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/page_file.h"

#include "CLI/CLI.hpp"
#include "messages/message.h"
#include "tools/command/program/output_file.h"
#include "tools/command/program/program.h"

namespace memtrace::command {

absl::Status PageOption::Check() const {
  return is_asked() ? OutputFile(file).Check(force) : absl::OkStatus();
}

void AddPageOption(CLI::App& app, PageOption& option) {
  app.add_option("-o,--output", option.file,
                 "Write a page for the browser instead: one file that needs no network")
      ->type_name("PAGE.html")
      ->excludes("--json")
      ->group("Output");
  app.add_flag("-f,--force", option.force, "Overwrite PAGE.html")->group("Output");
}

absl::Status WritePageFile(const std::string& path, const std::string& html) {
  const absl::Status written = OutputFile(path).KeepText(html);
  if (written.ok()) Note(Message("wrote $0; open it with a browser", path));
  return written;
}

}  // namespace memtrace::command
