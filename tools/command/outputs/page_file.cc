// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/page_file.h"

#include <filesystem>

#include "CLI/CLI.hpp"
#include "messages/message.h"
#include "tools/command/program/output_file.h"
#include "tools/command/program/program.h"

namespace memtrace::command {

namespace {

void AddFileOption(CLI::App& app, PageOption& option, const std::string& help,
                   const std::string& name) {
  app.add_option("-o,--output", option.file, help)
      ->type_name(name)
      ->excludes("--json")
      ->group("Output");
  app.add_flag("-f,--force", option.force, "Overwrite " + name)->group("Output");
}

}  // namespace

absl::Status PageOption::Check() const {
  if (!is_asked()) return absl::OkStatus();
  const std::string ending = std::filesystem::path(file).extension().string();
  if (!ending.empty() && ending != ".html" && ending != ".htm" && !is_picture()) {
    return absl::InvalidArgumentError(file +
                                      " has an ending that memtrace does not write; use .html "
                                      "for a page, or .svg or .png for a picture");
  }
  return OutputFile(file).Check(force);
}

void AddPageOption(CLI::App& app, PageOption& option) {
  AddFileOption(app, option, "Write a page for the browser instead: one file that needs no network",
                "PAGE.html");
}

void AddPageOrPictureOption(CLI::App& app, PageOption& option) {
  AddFileOption(
      app, option,
      "Write a file instead: a page for the browser, which needs no network (.html), or a "
      "picture of the first screen (.svg, .png)",
      "FILE");
}

absl::Status CheckIsPage(const PageOption& option) {
  if (!option.is_picture()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "a picture shows the report of one trace; write a page, such "
      "as -o page.html");
}

absl::Status WritePageFile(const std::string& path, const std::string& html) {
  const absl::Status written = OutputFile(path).KeepText(html);
  if (written.ok()) Note(Message("wrote $0; open it with a browser", path));
  return written;
}

absl::Status WritePictureFile(const std::string& path, const std::string& picture) {
  const absl::Status written = OutputFile(path).KeepText(picture);
  if (written.ok()) Note(Message("wrote $0", path));
  return written;
}

}  // namespace memtrace::command
