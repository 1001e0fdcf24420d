// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_INSTALLATION_H_
#define MEMTRACE_TOOLS_LAUNCH_INSTALLATION_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace memtrace::launch {

// A symbol that a library of the simulated card exports, and how a call of it is treated.
struct CardSymbol {
  std::string library;
  std::string name;
  std::string kind;  // "full", "partial", "inert" or "unsupported"
  std::string note;  // if "partial": what is not checked or done; else empty
};

// The torch beside the package.
struct TorchInstallation {
  std::string version;  // "2.11.0+cu130"; empty if there is none
  std::string cuda;     // the CUDA that it was built for, as "13.0"; empty if it was built without
  std::string rocm;     // the same for AMD's ROCm
  std::string cupti;    // the file of the CUPTI that came with it; empty if none did

  // "2.11"
  std::string minor() const;
  // False for a nightly or other build before a release, whose classes may differ.
  bool is_release() const;
};

// The parts that are available to run programs with. Nothing is started to find them.
struct Installation {
  std::filesystem::path package;
  std::vector<std::string> shims;  // the torch minors that the package has a shim for
  TorchInstallation torch;
  std::vector<CardSymbol> symbols;  // empty if the simulated card is not installed
  bool has_preload = false;  // the library that sees the driver's calls of other libraries is there

  // True if programs of that torch get memtrace's allocator.
  bool ServesTorch() const;
};

// Looks at the package's folder and its neighbors.
Installation FindInstallation(const std::filesystem::path& package);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_INSTALLATION_H_
