// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/json_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace memtrace::recorder {
namespace {

std::string TextOf(std::string_view value, size_t most = 80) {
  JsonWriter json;
  json.Text(value, most);
  return json.text();
}

TEST(JsonWriterTest, CommasSeparateElements) {
  JsonWriter json;
  json.Begin('{');
  json.Number("step", 3);
  json.Begin("cards", '[');
  json.Begin('{');
  json.End('}');
  json.Begin('{');
  json.Text("role", "parameter");
  json.End('}');
  json.Number(7);
  json.End(']');
  json.Text("owner", "");
  json.End('}');
  EXPECT_EQ(json.text(), R"({"step":3,"cards":[{},{"role":"parameter"},7],"owner":""})");
}

TEST(JsonWriterTest, AnyTextSurvivesAJsonReader) {
  std::string text;
  for (int c = 0; c < 128; ++c) text += static_cast<char>(c);
  const auto read = nlohmann::json::parse(TextOf(text, 200));
  EXPECT_EQ(read.get<std::string>(), text);
}

TEST(JsonWriterTest, CharacterIsNotSplit) {
  const std::string letter = "\u20ac";  // the euro sign, three bytes
  EXPECT_EQ(TextOf("ab" + letter, 5), "\"ab" + letter + "\"");
  EXPECT_EQ(TextOf("ab" + letter, 4), "\"ab\"");
  EXPECT_EQ(TextOf("ab" + letter, 3), "\"ab\"");
  EXPECT_EQ(TextOf("ab" + letter, 1), "\"a\"");
  EXPECT_EQ(TextOf(letter, 2), "\"\"");
}

}  // namespace
}  // namespace memtrace::recorder
