// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/files/cache_folders.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/strings/match.h"
#include "tools/fit/files/mount_table.h"

namespace memtrace::fit {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kUsual = {".cache", ".nv", ".triton"};  // at home
constexpr std::array<std::string_view, 3> kVariables = {"HF_HOME", "TORCH_HOME", "TRITON_HOME"};
constexpr std::array<std::string_view, 3> kEndings = {"_CACHE", "_CACHE_DIR", "_CACHE_HOME"};

bool NamesCache(std::string_view variable) {
  return std::find(kVariables.begin(), kVariables.end(), variable) != kVariables.end() ||
         std::any_of(kEndings.begin(), kEndings.end(), [variable](std::string_view ending) {
           return absl::EndsWith({variable.data(), variable.size()},
                                 {ending.data(), ending.size()});
         });
}

}  // namespace

std::vector<fs::path> CacheFolders(const launch::Environment& environment,
                                   const fs::path& working_folder) {
  const auto home = environment.find("HOME");
  const bool has_home = home != environment.end() && fs::path(home->second).is_absolute();
  std::vector<fs::path> named;
  for (const std::string_view usual : kUsual)
    if (has_home) named.push_back(fs::path(home->second) / usual);
  for (const auto& [name, value] : environment)
    if (NamesCache(name) && fs::path(value).is_absolute()) named.emplace_back(value);
  std::vector<fs::path> caches;
  for (const fs::path& name : named) {
    const fs::path cache = WithoutLinks(name);
    const bool holds_users =
        IsWithin(WithoutLinks(working_folder).native(), cache.native()) ||
        (has_home && IsWithin(WithoutLinks(home->second).native(), cache.native()));
    if (!holds_users) caches.push_back(cache);
  }
  return caches;
}

HeldCaches::HeldCaches(const std::vector<fs::path>& caches) {
  for (const fs::path& cache : caches) {
    std::error_code error;
    if (fs::is_directory(cache.parent_path(), error) && fs::create_directory(cache, error))
      made_.push_back(cache);
  }
}

HeldCaches::~HeldCaches() {
  for (auto cache = made_.rbegin(); cache != made_.rend(); ++cache) {
    std::error_code ignored;
    if (fs::is_empty(*cache, ignored)) fs::remove(*cache, ignored);
  }
}

}  // namespace memtrace::fit
