// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/remedies/catalogue.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>

namespace memtrace::remedies {
namespace {

const std::filesystem::path kSource = MEMTRACE_SOURCE;

std::string TextOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(kSource / path).rdbuf();
  return text.str();
}

TEST(CatalogueTest, RowsAreInOrderOfIdAndEffort) {
  Effort latest = Effort::kSetting;
  for (const Row& row : Catalogue()) {
    EXPECT_EQ(RowOf(row.id).name, row.name);
    EXPECT_GE(row.effort, latest) << row.name;
    latest = row.effort;
  }
}

TEST(CatalogueTest, NamesAndHooksAreUsedOnce) {
  std::set<std::string_view> seen;
  for (const Row& row : Catalogue()) {
    EXPECT_TRUE(seen.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.hook.empty() || seen.insert(row.hook).second) << row.hook;
  }
}

TEST(CatalogueTest, RowsWithHooksHaveDegrees) {
  for (const Row& row : Catalogue()) {
    const std::optional<Degrees> degrees = DegreesOf(row.id);
    ASSERT_EQ(degrees.has_value(), !row.hook.empty()) << row.name;
    if (degrees) {
      EXPECT_NE(degrees->saves_in, 0) << row.name;
    }
  }
}

TEST(CatalogueTest, StrongestDegreeIsTheEndOfTheSteps) {
  EXPECT_EQ(DegreesOf(Id::kCheckpointing)->strongest, 0u);  // all blocks of the model
  EXPECT_EQ(DegreesOf(Id::kLora)->weakest, 64u);
  EXPECT_EQ(DegreesOf(Id::kLora)->strongest, 8u);
  EXPECT_FALSE(DegreesOf(Id::kFused)->has_degree());
}

TEST(CatalogueTest, PythonHasExactlyTheseHooks) {
  const std::string package = TextOf("interpose/python/memtrace/_changes/__init__.py");
  const size_t begin = package.find("NAMES = (");
  ASSERT_NE(begin, std::string::npos);
  const std::string names = package.substr(begin, package.find("\n)", begin) - begin);
  std::string without = names;
  for (const Row& row : Catalogue()) {
    if (row.hook.empty()) continue;
    const std::string quoted = '"' + std::string(row.hook) + '"';
    const size_t place = without.find(quoted);
    ASSERT_NE(place, std::string::npos) << row.hook;
    without.erase(place, quoted.size());
  }
  EXPECT_EQ(without.find('"'), std::string::npos) << without;
}

TEST(CatalogueTest, FitDocumentListsEachHook) {
  const std::string page = TextOf("docs/design/fit.md");
  for (const Row& row : Catalogue()) {
    if (row.hook.empty()) continue;
    EXPECT_NE(page.find("\n- **" + std::string(row.name) + "**\n"), std::string::npos) << row.name;
  }
}

}  // namespace
}  // namespace memtrace::remedies
