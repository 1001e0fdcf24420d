// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/driver/other_driver.h"

#include <dlfcn.h>
#include <link.h>

#include <string_view>
#include <vector>

namespace memtrace::card {
namespace {

// Matches libcuda.so.1, or libcuda.so.580.65.06, to which it may be a link.
int AddDriver(dl_phdr_info* library, std::size_t, void* files) {
  const std::string_view file = library->dlpi_name;
  if (file.substr(file.rfind('/') + 1).starts_with("libcuda.so"))
    static_cast<std::vector<std::string>*>(files)->emplace_back(file);
  return 0;
}

bool IsSimulated(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const bool ours = dlsym(library, "memtrace_card_count") != nullptr;
  dlclose(library);
  return ours;
}

}  // namespace

std::string OtherDriverInProcess() {
  std::vector<std::string> files;
  dl_iterate_phdr(AddDriver, &files);
  for (const std::string& file : files) {
    if (!IsSimulated(file)) return file;
  }
  return "";
}

}  // namespace memtrace::card
