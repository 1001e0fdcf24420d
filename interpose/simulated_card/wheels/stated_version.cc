// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/wheels/stated_version.h"

#include <link.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

namespace memtrace::card {
namespace {

int RememberTorch(dl_phdr_info* library, std::size_t, void* found) {
  const std::string path = library->dlpi_name == nullptr ? "" : library->dlpi_name;
  if (!path.ends_with("/libtorch_cuda.so")) return 0;
  *static_cast<std::string*>(found) = path;
  return 1;
}

}  // namespace

std::optional<std::size_t> StatedVersion(const std::string& header_path,
                                         std::initializer_list<VersionPart> parts) {
  std::ifstream header(header_path);
  std::vector<VersionPart> missing(parts);
  std::size_t version = 0;
  for (std::string word; !missing.empty() && header >> word;) {
    const auto part = std::find_if(missing.begin(), missing.end(),
                                   [&](const VersionPart& one) { return one.macro == word; });
    if (part == missing.end()) continue;
    std::size_t value = 0;
    if (header >> value) {
      version += part->weight * value;
      missing.erase(part);
    }
    header.clear();
  }
  return missing.empty() ? std::optional(version) : std::nullopt;
}

std::string HeaderBeside(const std::string& torch_library, std::string_view header) {
  const std::filesystem::path packages =
      std::filesystem::path(torch_library).parent_path().parent_path().parent_path();
  return (packages / "nvidia" / header).string();
}

std::string HeaderBesideTorch(std::string_view header) {
  std::string torch;
  dl_iterate_phdr(RememberTorch, &torch);
  return torch.empty() ? "" : HeaderBeside(torch, header);
}

}  // namespace memtrace::card
