// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/files/folder_watch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tools/fit/files/user_folders.h"
#include "tools/fit/files/cache_folders.h"

namespace memtrace::fit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class FolderWatchTest : public UserFolders {
 protected:
  FolderWatch Watch() const { return FolderWatch({Path("user")}, Path("user/mine")); }
  std::string Name(const std::string& name) const { return Path(name).string(); }
};

TEST_F(FolderWatchTest, UntouchedFilesAreUnchanged) {
  const FolderWatch watch = Watch();
  EXPECT_EQ(Read("user/a"), "precious");  // reading is not a change
  EXPECT_THAT(watch.Changes().names, IsEmpty());
  EXPECT_TRUE(watch.Changes().saw_all);
}

TEST_F(FolderWatchTest, ChangedNewAndMissingFilesAreNamed) {
  const FolderWatch watch = Watch();
  std::filesystem::remove(Path("user/a"));
  Write("user/inner/c", "gone");
  Write("user/new", "new");
  EXPECT_THAT(watch.Changes().names,
              ElementsAre(Name("user/a"), Name("user/inner/c"), Name("user/new")));
}

// The time of change, which programs cannot set, reveals new contents with the old size and time.
TEST_F(FolderWatchTest, NewContentsWithOldSizeAndTimeAreAChange) {
  struct stat before = {};
  ASSERT_EQ(stat(Path("user/a").c_str(), &before), 0);
  const FolderWatch watch = Watch();
  usleep(20'000);  // longer than a tick of the clock for files
  Write("user/a", "PRECIOUS");
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, Path("user/a").c_str(), times, 0), 0);
  EXPECT_THAT(watch.Changes().names, ElementsAre(Name("user/a")));
}

TEST_F(FolderWatchTest, StatedFilesElsewhereAreNamedIfChanged) {
  Write("elsewhere", "old");
  Write("untouched", "old");
  usleep(20'000);
  const FolderWatch watch = Watch();
  Write("elsewhere", "new");
  EXPECT_THAT(watch.Changes({Name("elsewhere"), Name("missing"), Name("untouched")}).names,
              ElementsAre(Name("elsewhere")));
}

TEST_F(FolderWatchTest, IgnoredFolderIsNotWatched) {
  const FolderWatch watch = Watch();
  std::filesystem::create_directory(Path("user/mine"));
  Write("user/mine/x", "x");
  EXPECT_THAT(watch.Changes().names, IsEmpty());
}

TEST_F(FolderWatchTest, FoldersOfACommandAreThoseItNames) {
  const std::string folder = Path("user/inner").string();
  EXPECT_THAT(FoldersOf({"/bin/sh", "--out=" + folder, "b", "--steps=3"}, Path("user")),
              ElementsAre(Path("user"), Path("user/inner"), Path("user")));
}

using CacheFoldersTest = UserFolders;

TEST_F(CacheFoldersTest, CachesAreUsualFoldersAndThoseInTheEnvironment) {
  const launch::Environment environment = {{"HOME", Path("user").string()},
                                           {"HF_HOME", Path("hub").string()},
                                           {"MY_CACHE_DIR", Path("user/inner").string()},
                                           {"OTHER_DIR", Path("other").string()},
                                           {"RELATIVE_CACHE", "here"}};
  EXPECT_THAT(CacheFolders(environment, Path("scratch")),
              UnorderedElementsAre(Path("user/.cache"), Path("user/.nv"), Path("user/.triton"),
                                   Path("hub"), Path("user/inner")));
}

TEST_F(CacheFoldersTest, FolderWithTheUsersWorkIsNotACache) {
  const launch::Environment environment = {{"A_CACHE", "/"}, {"B_CACHE", Path("user").string()}};
  EXPECT_THAT(CacheFolders(environment, Path("user/inner")), IsEmpty());
}

TEST_F(CacheFoldersTest, MissingCachesAreCreatedAndKeptIfFilled) {
  {
    const HeldCaches held({Path("user/empty"), Path("user/filled"), Path("user/no/parent")});
    EXPECT_TRUE(std::filesystem::exists(Path("user/empty")));
    Write("user/filled/model", "weights");
  }
  EXPECT_FALSE(std::filesystem::exists(Path("user/empty")));
  EXPECT_TRUE(std::filesystem::exists(Path("user/filled/model")));
}

}  // namespace
}  // namespace memtrace::fit
