// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/installation.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

namespace memtrace::launch {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Shims(const fs::path& libraries) {
  constexpr std::string_view kPrefix = "torch-";
  std::vector<std::string> shims;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(libraries, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kPrefix, 0) == 0 && fs::exists(entry.path() / "libmemtrace_torch.so", error))
      shims.push_back(name.substr(kPrefix.size()));
  }
  std::sort(shims.begin(), shims.end());
  return shims;
}

// "2.11.0+cu130" of the line __version__ = '2.11.0+cu130'.
std::string TorchVersion(const fs::path& site_packages) {
  std::ifstream file(site_packages / "torch" / "version.py");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("__version__", 0) != 0) continue;
    const std::size_t first = line.find_first_of("'\"");
    const std::size_t last = line.find_last_of("'\"");
    if (first != last) return line.substr(first + 1, last - first - 1);
  }
  return "";
}

std::vector<CardSymbol> Symbols(const fs::path& manifest) {
  std::vector<CardSymbol> symbols;
  std::ifstream file(manifest);
  for (std::string line; std::getline(file, line);) {
    CardSymbol symbol;
    std::istringstream words(line);
    if (!(words >> symbol.library >> symbol.name >> symbol.kind)) continue;
    std::getline(words >> std::ws, symbol.note);
    symbols.push_back(symbol);
  }
  return symbols;
}

}  // namespace

std::string FindRealDriver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return "";
  link_map* map = nullptr;
  const bool found = dlinfo(driver, RTLD_DI_LINKMAP, &map) == 0;
  const bool ours = dlsym(driver, "memtrace_card_count") != nullptr;
  std::string file = found && !ours ? map->l_name : "";
  dlclose(driver);
  return file;
}

Installation FindInstallation(const fs::path& package) {
  const fs::path libraries = package / "lib";
  return {.package = package,
          .shims = Shims(libraries),
          .torch = TorchVersion(package.parent_path()),
          .symbols = Symbols(libraries / "simulated_card" / "symbols.txt"),
          .real_driver = FindRealDriver()};
}

}  // namespace memtrace::launch
