// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_CARD_LIBRARIES_H_
#define MEMTRACE_TOOLS_LAUNCH_CARD_LIBRARIES_H_

#include <string>
#include <vector>

namespace memtrace::launch {

// Returns the sonames of the libraries that an ELF file names as needed; empty if it is not an ELF
// file or names no library.
std::vector<std::string> NeededLibraries(const std::string& path);

// Returns the stand-ins to preload into a program that needs these libraries, each after those that
// it needs itself: the ones that serve any CUDA, and the set of each version of CUDA that the
// program needs a library of. A program gets libraries of two versions of CUDA only if it needs
// both.
std::vector<std::string> CardLibrariesFor(const std::vector<std::string>& needed);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_CARD_LIBRARIES_H_
