// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/stacks/own_files.h"

#include <dlfcn.h>

namespace memtrace {

std::string PackageFolderOf(std::string_view library) {
  constexpr std::string_view kPlace = "/memtrace/lib/";
  const size_t at = library.rfind(kPlace);
  if (at == std::string_view::npos) return "";
  return std::string(library.substr(0, at + kPlace.find("lib/")));
}

bool IsOwnFile(std::string_view file) {
  static const std::string kFolder = [] {
    Dl_info info;
    const bool is_found = dladdr(reinterpret_cast<const void*>(&PackageFolderOf), &info) != 0;
    return is_found && info.dli_fname != nullptr ? PackageFolderOf(info.dli_fname) : "";
  }();
  return !kFolder.empty() && file.starts_with(kFolder);
}

}  // namespace memtrace
