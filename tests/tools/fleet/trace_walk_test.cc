// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fleet/trace_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::fleet {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TraceWalkTest : public testing::Test {
 protected:
  void Make(const std::string& name) const {
    fs::create_directories(fs::path(folder_.File(name)).parent_path());
    trace::WriteBytes(folder_.File(name), "");
  }
  // Returns the paths below the folder; those with a trace's name end in "!".
  std::vector<std::string> Found() const {
    std::vector<std::string> names;
    for (const FoundFile& file : FindFiles(folder_.path()))
      names.push_back(file.path.substr(folder_.path().size() + 1) + (file.has_name ? "!" : ""));
    return names;
  }

  trace::TemporaryFolder folder_;
};

TEST_F(TraceWalkTest, FilesOfAllFoldersAreFoundInTheOrderOfTheirPaths) {
  for (const char* name : {"b.trace", "a/deep/run.trace.12", "a/run.trace", "notes.txt"})
    Make(name);
  EXPECT_THAT(Found(),
              ElementsAre("a/deep/run.trace.12!", "a/run.trace!", "b.trace!", "notes.txt"));
}

TEST_F(TraceWalkTest, LinksAreNotFollowed) {
  Make("a/run.trace");
  fs::create_directory_symlink(folder_.path(), folder_.File("a/loop"));
  fs::create_symlink(folder_.File("a/run.trace"), folder_.File("again.trace"));
  EXPECT_THAT(Found(), ElementsAre("a/run.trace!"));
}

TEST_F(TraceWalkTest, PipesAreNotOpened) {
  ASSERT_EQ(mkfifo(folder_.File("pipe.trace").c_str(), 0600), 0);
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(TraceWalkTest, FolderThatCannotBeListedIsAProblem) {
  const std::vector<FoundFile> found = FindFiles(folder_.File("missing"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].problem, HasSubstr("cannot list the folder"));
}

}  // namespace
}  // namespace memtrace::fleet
