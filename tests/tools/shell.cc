// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/shell.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "profiler/trace/text/text_trace.h"

namespace memtrace {
namespace {

namespace fs = std::filesystem;

}  // namespace

Shell::Shell() {
  std::string name = (fs::temp_directory_path() / "memtrace-shell-XXXXXX").string();
  folder_ = mkdtemp(name.data());
  fs::create_directory(folder_ / "here");
}

Shell::~Shell() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Outcome Shell::Run(const std::string& command_line) const {
  WriteFile(folder_ / "command.sh",
            "cd '" + (folder_ / "here").string() + "'\n" +
                "unset MEMTRACE MEMTRACE_HOME PYTHONPATH LD_PRELOAD COLUMNS\n" + "PATH='" +
                fs::path(MEMTRACE_PROGRAM).parent_path().string() + "':\"$PATH\"\n" + command_line +
                "\n");
  const std::string out = (folder_ / "out").string();
  const std::string err = (folder_ / "err").string();
  // NOLINTNEXTLINE(bugprone-command-processor): a shell is what is wanted
  const int status = std::system(
      ("sh '" + (folder_ / "command.sh").string() + "' >'" + out + "' 2>'" + err + "' </dev/null")
          .c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), ReadFile(out),
          ReadFile(err)};
}

void Shell::WriteTrace(const std::string& name, std::string_view text) const {
  const absl::Status written = trace::WriteTextTrace(text, Path(name).string());
  ASSERT_TRUE(written.ok()) << written;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void WriteFile(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace memtrace
