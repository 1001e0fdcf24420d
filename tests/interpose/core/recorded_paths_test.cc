// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/recorded_text/recorded_paths.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(RecordedPathsTest, EachPathKeepsItsLastPart) {
  EXPECT_EQ(WithoutFolders("/home/ann/secret/train.py"), "train.py");
  EXPECT_EQ(WithoutFolders("train.py"), "train.py");
  EXPECT_EQ(WithoutFolders("--data=/home/ann/x.bin,b/c --n 3"), "--data=x.bin,c --n 3");
  EXPECT_EQ(WithoutFolders(R"(["python","/a/b.py","--out","~/runs/1/"])"),
            R"(["python","b.py","--out",""])");
  EXPECT_EQ(WithoutFolders("s3://bucket/key"), "s3:key");
  EXPECT_EQ(WithoutFolders(R"(["sh","-c","cat \"/a/b\""])"), R"(["sh","-c","cat \"b\""])");
  EXPECT_EQ(WithoutFolders(""), "");
}

}  // namespace
}  // namespace memtrace
