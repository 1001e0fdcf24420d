// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/installation.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

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
  // "2.9" comes before "2.10": within a major version a shorter number is a smaller one.
  std::sort(shims.begin(), shims.end(), [](const std::string& one, const std::string& other) {
    return std::pair(one.size(), one) < std::pair(other.size(), other);
  });
  return shims;
}

// Returns the text between quotes in the line of version.py that begins with `name`, such as
// __version__ = '2.11.0+cu130' or cuda: Optional[str] = '13.0'.
std::string InVersionFile(const fs::path& site_packages, std::string_view name) {
  std::ifstream file(site_packages / "torch" / "version.py");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) != 0) continue;
    const std::size_t first = line.find_first_of("'\"");
    const std::size_t last = line.find_last_of("'\"");
    if (first != last) return line.substr(first + 1, last - first - 1);
  }
  return "";
}

// Returns CUPTI's library from NVIDIA's wheels, on which torch's depends; empty if there is none.
std::string Cupti(const fs::path& site_packages) {
  std::error_code error;
  for (const char* file : {"cu13/lib/libcupti.so.13", "cuda_cupti/lib/libcupti.so.12"}) {
    const fs::path path = site_packages / "nvidia" / file;
    if (fs::exists(path, error)) return path.string();
  }
  return "";
}

TorchInstallation FindTorch(const fs::path& site_packages) {
  return {.version = InVersionFile(site_packages, "__version__"),
          .cuda = InVersionFile(site_packages, "cuda"),
          .rocm = InVersionFile(site_packages, "hip"),
          .cupti = Cupti(site_packages)};
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

std::string TorchInstallation::minor() const {
  return version.substr(0, version.find('.', version.find('.') + 1));
}

// The package's _start/unfit_torch.py decides by the same rule: "2.11.0", "2.11.0.post1" and
// "2.11.0+cu130" are releases, "2.11.0.dev20260101" and "2.11.0a0+git1234567" are not.
bool TorchInstallation::is_release() const {
  const std::string_view public_part = std::string_view(version).substr(0, version.find('+'));
  const std::string_view release = public_part.substr(0, public_part.find(".post"));
  return release.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool Installation::ServesTorch() const {
  return !torch.cuda.empty() && torch.is_release() &&
         std::find(shims.begin(), shims.end(), torch.minor()) != shims.end();
}

Installation FindInstallation(const fs::path& package) {
  const fs::path libraries = package / "lib";
  std::error_code ignored;
  return {.package = package,
          .shims = Shims(libraries),
          .torch = FindTorch(package.parent_path()),
          .symbols = Symbols(libraries / "simulated_card" / "symbols.txt"),
          .has_preload = fs::exists(libraries / "libmemtrace_preload.so", ignored)};
}

}  // namespace memtrace::launch
