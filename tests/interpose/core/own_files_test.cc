// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/stacks/own_files.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(OwnFilesTest, PackageFolderIsAboveItsLibraries) {
  EXPECT_EQ(PackageFolderOf("/venv/site-packages/memtrace/lib/libmemtrace.so"),
            "/venv/site-packages/memtrace/");
  EXPECT_EQ(PackageFolderOf("/venv/site-packages/memtrace/lib/torch-2.11/libmemtrace_torch.so"),
            "/venv/site-packages/memtrace/");
}

TEST(OwnFilesTest, LibraryOutsideAPackageHasNoFolder) {
  EXPECT_EQ(PackageFolderOf("/opt/lib/libmemtrace.so"), "");
  EXPECT_FALSE(IsOwnFile("/home/ada/train.py"));  // a test program is not in a package
}

}  // namespace
}  // namespace memtrace
