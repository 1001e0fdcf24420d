// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/changes/script_version.h"

#include <gtest/gtest.h>

#include <string>

namespace memtrace::fit {
namespace {

// The examples of FIPS 180-4 and, for the lengths around a block's end, what Python's hashlib
// gives.
TEST(ScriptVersionTest, HashIsSha256) {
  EXPECT_EQ(Sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(Sha256(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  EXPECT_EQ(Sha256(std::string(119, 'a')),
            "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
}

TEST(ScriptVersionTest, MissingFileHasNoVersion) {
  EXPECT_EQ(ScriptVersion(testing::TempDir() + "/there is no such script.py"), "");
  EXPECT_EQ(ScriptVersion(testing::TempDir()), "");
}

}  // namespace
}  // namespace memtrace::fit
