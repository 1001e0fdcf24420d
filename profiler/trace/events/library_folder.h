// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_LIBRARY_FOLDER_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_LIBRARY_FOLDER_H_

#include <algorithm>
#include <array>
#include <string_view>

namespace memtrace::trace {

// The folders into which Python's installers put packages.
inline constexpr std::array<std::string_view, 2> kPackageFolders = {"site-packages/",
                                                                    "dist-packages/"};

// True if the file of a frame lies in a folder of installed packages or of Python's own library.
inline bool IsInLibraryFolder(std::string_view file) {
  const auto contains = [file](std::string_view folder) {
    return file.find(folder) != std::string_view::npos;
  };
  return std::any_of(kPackageFolders.begin(), kPackageFolders.end(), contains) ||
         contains("/lib/python3");
}

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_LIBRARY_FOLDER_H_
