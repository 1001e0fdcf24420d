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

// What becomes of a call of a symbol that a library of the simulated card exports.
struct CardSymbol {
  std::string library;
  std::string name;
  std::string kind;  // "full", "partial", "inert" or "unsupported"
  std::string note;  // of "partial": what is not looked at or done; else empty
};

// What there is to run programs with. Nothing of it is started or asked for a GPU.
struct Installation {
  std::filesystem::path package;
  std::vector<std::string> shims;   // the torch minors that the package has a shim for
  std::string torch;                // the version beside the package; empty if there is none
  std::vector<CardSymbol> symbols;  // empty if the simulated card is not installed
  std::string real_driver;          // file of NVIDIA's driver library; empty if there is none
};

// The file of NVIDIA's driver library that a program without a card of ours would get; empty if
// there is none. Loads it into this process, which starts nothing: a driver begins with cuInit.
// Ours, preloaded by somebody, is none.
std::string FindRealDriver();

// Looks at the package's folder and its neighbours, and asks the loader for libcuda.so.1.
Installation FindInstallation(const std::filesystem::path& package);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_INSTALLATION_H_
