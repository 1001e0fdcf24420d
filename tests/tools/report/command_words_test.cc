// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/command_words.h"

#include <gtest/gtest.h>

namespace memtrace::report {
namespace {

std::string Shown(std::vector<std::string> words, size_t width = 100) {
  analysis::RunFacts run;
  run.command = "as kept";
  run.words = std::move(words);
  run.folder = "/home/ada/work";
  return ShortCommand(run, width);
}

TEST(ShortCommandTest, ProgramLosesItsFolderAndPathsBecomeRelative) {
  EXPECT_EQ(Shown({"/venv/bin/python", "/home/ada/work/train.py", "--out", "/data/out", ""}),
            "python train.py --out /data/out ");
  EXPECT_EQ(Shown({"./bin/train", "/home/ada/workshop/a"}), "train /home/ada/workshop/a");
}

TEST(ShortCommandTest, LongCommandLosesOtherFolders) {
  EXPECT_EQ(Shown({"/venv/bin/python", "/a/very/long/way/to/train.py", "/"}, 20),
            "python train.py /");
}

TEST(ShortCommandTest, CommandWithoutWordsIsShownAsIs) { EXPECT_EQ(Shown({}), "as kept"); }

TEST(ShellWordTest, OnlyWordsThatAShellWouldChangeAreQuoted) {
  EXPECT_EQ(ShellWord("--lr=1e-3"), "--lr=1e-3");
  EXPECT_EQ(ShellWord("my file.py"), "'my file.py'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord("$(reboot)"), "'$(reboot)'");
  EXPECT_EQ(ShellWord(""), "''");
}

}  // namespace
}  // namespace memtrace::report
