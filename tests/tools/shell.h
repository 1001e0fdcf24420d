// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_TOOLS_SHELL_H_
#define MEMTRACE_TESTS_TOOLS_SHELL_H_

#include <filesystem>
#include <string>
#include <string_view>

namespace memtrace {

std::string ReadFile(const std::filesystem::path& path);
void WriteFile(const std::filesystem::path& path, std::string_view text);

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

// A temporary folder with a shell in it, in which `memtrace` is the real program. The destructor
// removes it.
class Shell {
 public:
  Shell();
  ~Shell();
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  // Runs a command as typed at a prompt in the folder.
  Outcome Run(const std::string& command_line) const;

  // Returns the path of a file in Run's working folder.
  std::filesystem::path Path(const std::string& name) const { return folder_ / "here" / name; }
  void Write(const std::string& name, std::string_view text) const { WriteFile(Path(name), text); }
  // Makes a trace from its text form (profiler/trace/text/text_trace.h).
  void WriteTrace(const std::string& name, std::string_view text) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace memtrace

#endif  // MEMTRACE_TESTS_TOOLS_SHELL_H_
