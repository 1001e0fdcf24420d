// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_TOOLS_FIT_FILES_USER_FOLDERS_H_
#define MEMTRACE_TESTS_TOOLS_FIT_FILES_USER_FOLDERS_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace memtrace::fit {

// A user's folder with files in it, and a folder for a run's files.
class UserFolders : public testing::Test {
 protected:
  UserFolders() {
    std::filesystem::create_directories(Path("user/inner"));
    std::filesystem::create_directories(Path("scratch"));
    for (const char* name : {"user/a", "user/b", "user/inner/c"}) Write(name, "precious");
  }
  ~UserFolders() override { std::filesystem::remove_all(root_); }

  std::filesystem::path Path(const std::string& name) const { return root_ / name; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }

 private:
  static std::filesystem::path Make() {
    std::string name = (std::filesystem::canonical(testing::TempDir()) / "user-XXXXXX").string();
    return mkdtemp(name.data());
  }

  std::filesystem::path root_ = Make();
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TESTS_TOOLS_FIT_FILES_USER_FOLDERS_H_
