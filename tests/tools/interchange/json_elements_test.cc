// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/importers/json_elements.h"

#include <gtest/gtest.h>

#include <string>

namespace memtrace::interchange {
namespace {

std::string First(std::string_view text) {
  JsonElements json(text);
  const auto value = json.Value();
  return value ? std::string(*value) : "nothing";
}

TEST(JsonElementsTest, WholeValueIsExtracted) {
  EXPECT_EQ(First("  {\"a\": [1, {\"}\": 2}]}, 3"), "{\"a\": [1, {\"}\": 2}]}");
  EXPECT_EQ(First("\"a\\\"b\", 1"), "\"a\\\"b\"");
  EXPECT_EQ(First("12.5e3,"), "12.5e3");
  EXPECT_EQ(First("null]"), "null");
}

TEST(JsonElementsTest, UnterminatedValueIsNone) {
  for (const std::string_view text : {"", " ", "{", "[[]", "\"abc", "\"abc\\", "12", ",", "{\"}"})
    EXPECT_EQ(First(text), "nothing") << text;
}

TEST(JsonElementsTest, DeepNestingIsHandled) {
  const std::string deep(1 << 20, '[');
  EXPECT_EQ(First(deep), "nothing");
  EXPECT_EQ(First(deep + std::string(1 << 20, ']')).size(), size_t{2} << 20);
}

}  // namespace
}  // namespace memtrace::interchange
