// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/dnn/version.h"

#include <cudnn_version.h>
#include <link.h>

#include <filesystem>
#include <fstream>

namespace memtrace::card {
namespace {

int RememberTorch(dl_phdr_info* library, std::size_t, void* found) {
  const std::string path = library->dlpi_name == nullptr ? "" : library->dlpi_name;
  if (!path.ends_with("/libtorch_cuda.so")) return 0;
  *static_cast<std::string*>(found) = path;
  return 1;
}

std::size_t FindVersion() {
  std::string torch;
  dl_iterate_phdr(RememberTorch, &torch);
  return StatedDnnVersion(DnnHeaderBeside(torch)).value_or(CUDNN_VERSION);
}

}  // namespace

std::optional<std::size_t> StatedDnnVersion(const std::string& header_path) {
  std::ifstream header(header_path);
  std::size_t version = 0;
  int parts = 0;
  for (std::string word; header >> word;) {
    const std::size_t weight = word == "CUDNN_MAJOR"        ? 10000
                               : word == "CUDNN_MINOR"      ? 100
                               : word == "CUDNN_PATCHLEVEL" ? 1
                                                            : 0;
    std::size_t value = 0;
    if (weight == 0 || !(header >> value)) {
      header.clear();
      continue;
    }
    version += weight * value;
    if (++parts == 3) return version;
  }
  return std::nullopt;
}

// site-packages/torch/lib/libtorch_cuda.so, site-packages/nvidia/cudnn/include/cudnn_version.h
std::string DnnHeaderBeside(const std::string& torch_library) {
  const std::filesystem::path packages =
      std::filesystem::path(torch_library).parent_path().parent_path().parent_path();
  return (packages / "nvidia/cudnn/include/cudnn_version.h").string();
}

std::size_t DnnVersion() {
  static const std::size_t kVersion = FindVersion();
  return kVersion;
}

}  // namespace memtrace::card
