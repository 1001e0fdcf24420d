// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/pickle_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memtrace::interchange {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using Kind = PickleValue::Kind;
using namespace std::string_literals;

// Texts in the tree are views of `pickle`.
PickleTree MustRead(const std::string& pickle) {
  auto tree = ReadPickle(pickle);
  EXPECT_TRUE(tree.ok()) << tree.status();
  return tree.ok() ? *std::move(tree) : PickleTree();
}

std::string ErrorOf(const std::string& pickle) {
  return std::string(ReadPickle(pickle).status().message());
}

// Returns the number in a pickle that holds nothing else.
std::optional<int64_t> NumberIn(const std::string& pickle) {
  const PickleTree tree = MustRead(pickle + ".");
  return tree.Int(tree.root());
}

// [1, [2, 3], {"a": (4,)}] in protocol 2.
const std::string kNested =
    "\x80\x02]q\x00(K\x01]q\x01(K\x02K\x03"
    "e}q\x02X\x01\x00\x00\x00"
    "aq\x03K\x04\x85q\x04se."s;

TEST(PickleReaderTest, IntegersOfEveryLengthAreRead) {
  EXPECT_EQ(NumberIn("K\xff"s), 255);
  EXPECT_EQ(NumberIn("M\xff\xff"s), 65535);
  EXPECT_EQ(NumberIn("J\xff\xff\xff\xff"s), -1);
  EXPECT_EQ(NumberIn("\x8a\x00"s), 0);
  EXPECT_EQ(NumberIn("\x8a\x01\x80"s), -128);
  EXPECT_EQ(NumberIn("\x8a\x06\x00\x00\x00\x00\x00\x7f"s), 0x7f00'0000'0000);
  EXPECT_EQ(NumberIn("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"s), INT64_MAX);
  EXPECT_EQ(NumberIn("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s), INT64_MIN);
  EXPECT_EQ(NumberIn("\x8b\x02\x00\x00\x00\x00\x01"s), 256);
  EXPECT_EQ(NumberIn("\x88"s), 1);
  EXPECT_EQ(NumberIn("\x89"s), 0);
  EXPECT_EQ(NumberIn("N"s), std::nullopt);
  // 2^64 - 1: a handle.
  EXPECT_EQ(NumberIn("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00"s), -1);
  EXPECT_THAT(ErrorOf("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x01."s), HasSubstr("64 bits"));
}

TEST(PickleReaderTest, FloatsAreBigEndian) {
  const PickleTree tree = MustRead("G\x3f\xf8\x00\x00\x00\x00\x00\x00."s);
  EXPECT_EQ(tree.Float(tree.root()), 1.5);
  EXPECT_EQ(tree.Int(tree.root()), std::nullopt);
}

TEST(PickleReaderTest, NestedListsDictsAndTuplesAreRead) {
  const PickleTree tree = MustRead(kNested);
  std::vector<PickleValue> items;
  tree.ForEach(tree.root(), [&](PickleValue item) { items.push_back(item); });
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(tree.Int(items[0]), 1);
  EXPECT_EQ(tree.Size(items[1]), 2U);
  EXPECT_EQ(tree.Size(items[2]), 1U);
  const PickleValue tuple = tree.Find(items[2], "a");
  ASSERT_EQ(tree.Size(tuple), 1U);
  tree.ForEach(tuple, [&](PickleValue item) { EXPECT_EQ(tree.Int(item), 4); });
  EXPECT_EQ(tree.Find(items[2], "b").kind(), Kind::kNone);
  EXPECT_EQ(tree.Find(items[0], "a").kind(), Kind::kNone);
}

TEST(PickleReaderTest, ItemsAppendedInPartsStayInOrder) {
  // [1], then a list [9] made meanwhile, then 2 and 3: [1, [9], 2, 3]. The latest value of a key
  // counts.
  const PickleTree tree = MustRead("](K\x01"s + "e(](K\x09" + "eK\x02" + "eK\x03" + "a.");
  std::vector<int64_t> numbers;
  tree.ForEach(tree.root(), [&](PickleValue item) {
    numbers.push_back(tree.Int(item).value_or(-static_cast<int64_t>(tree.Size(item))));
  });
  EXPECT_EQ(numbers, (std::vector<int64_t>{1, -1, 2, 3}));
  const std::string pairs = "}(\x8c\x01kK\x01\x8c\x01lK\x05u\x8c\x01kK\x02s."s;
  const PickleTree dict = MustRead(pairs);
  EXPECT_EQ(dict.Size(dict.root()), 3U);
  EXPECT_EQ(dict.Int(dict.Find(dict.root(), "k")), 2);
}

TEST(PickleReaderTest, MemoizedValueIsTheSameObject) {
  // ([], the same list, another one)
  const PickleTree tree = MustRead("]\x94h\x00]\x87."s);
  std::vector<PickleValue> items;
  tree.ForEach(tree.root(), [&](PickleValue item) { items.push_back(item); });
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0], items[1]);
  EXPECT_NE(items[0], items[2]);
}

TEST(PickleReaderTest, ListMayContainItself) {
  const PickleTree tree = MustRead("]\x94h\x00"s + "a.");
  tree.ForEach(tree.root(), [&](PickleValue item) { EXPECT_EQ(item, tree.root()); });
  EXPECT_EQ(tree.Size(tree.root()), 1U);
}

TEST(PickleReaderTest, UnsafeOpcodesAreRejectedByNameAndOffset) {
  const std::vector<std::pair<std::string, std::string>> unsafe = {{"cos\nsystem\n", "GLOBAL"},
                                                                   {"\x93", "STACK_GLOBAL"},
                                                                   {"ios\nsystem\n", "INST"},
                                                                   {"o", "OBJ"},
                                                                   {"\x81", "NEWOBJ"},
                                                                   {"\x92", "NEWOBJ_EX"},
                                                                   {"R", "REDUCE"},
                                                                   {"b", "BUILD"},
                                                                   {"\x82\x01", "EXT1"},
                                                                   {"\x83\x01\x01", "EXT2"},
                                                                   {"P1\n", "PERSID"},
                                                                   {"Q", "BINPERSID"},
                                                                   {"\x97", "NEXT_BUFFER"}};
  for (const auto& [bytes, name] : unsafe) {
    const absl::Status status = ReadPickle("\x80\x04" + bytes + ".").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(name + " at byte 2 "));
  }
  EXPECT_THAT(ErrorOf("I1\n."), HasSubstr("it has the instruction 73, which no snapshot has"));
}

TEST(PickleReaderTest, EveryTruncationIsRejectedWithItsOffset) {
  for (size_t length = 0; length < kNested.size(); ++length) {
    const std::string error = ErrorOf(kNested.substr(0, length));
    EXPECT_THAT(error, HasSubstr(" at byte ")) << length;
  }
}

TEST(PickleReaderTest, EveryChangedByteIsReadOrRejected) {
  for (size_t at = 0; at < kNested.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = kNested;
      changed[at] = static_cast<char>(byte);
      const auto tree = ReadPickle(changed);
      if (tree.ok()) {
        tree->ForEach(tree->root(), [](PickleValue) {});
      } else {
        EXPECT_FALSE(tree.status().message().empty());
      }
    }
  }
}

TEST(PickleReaderTest, DeepNestingIsHandled) {
  const size_t depth = 1'000'000;
  const std::string pickle = std::string(depth, ']') + std::string(depth - 1, 'a') + ".";
  const PickleTree tree = MustRead(pickle);
  size_t levels = 1;
  PickleValue list = tree.root();
  while (tree.Size(list) == 1) {
    tree.ForEach(list, [&](PickleValue inner) { list = inner; });
    ++levels;
  }
  EXPECT_EQ(levels, depth);
}

TEST(PickleReaderTest, InvalidLengthsAndReferencesAreRejected) {
  EXPECT_THAT(ErrorOf("\x8d\x00\x00\x00\x00\x00\x00\x00\x80."s), HasSubstr("ends in the middle"));
  EXPECT_THAT(ErrorOf("\x8b\xff\xff\xff\xff."s), HasSubstr("ends in the middle"));
  EXPECT_THAT(ErrorOf("Nr\xff\xff\xff\x7f."s), HasSubstr("past the end of its memo"));
  EXPECT_THAT(ErrorOf("h\x00."s), HasSubstr("reads a memo entry that it did not set"));
  EXPECT_THAT(ErrorOf("."), EndsWith("its stack is empty at byte 0"));
  EXPECT_THAT(ErrorOf("e."), HasSubstr("ends a group that it did not begin"));
  EXPECT_THAT(ErrorOf("N(Na."s), HasSubstr("stack is empty"));
  EXPECT_THAT(ErrorOf("N(Ne."s), HasSubstr("not a list or dict"));
  EXPECT_THAT(ErrorOf("}(Nu."s), HasSubstr("a key has no value"));
  EXPECT_THAT(ErrorOf("\x80\x09."s), HasSubstr("unknown protocol"));
}

TEST(PickleReaderTest, PickleThatNeedsTooMuchMemoryIsRejected) {
  const std::string many(16 << 20, 'N');
  const absl::Status status = ReadPickle(many).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than 256 MiB of memory at byte "));
}

}  // namespace
}  // namespace memtrace::interchange
