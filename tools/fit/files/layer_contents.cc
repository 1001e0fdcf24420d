// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/files/layer_contents.h"

#include <sys/statvfs.h>

#include <fstream>
#include <system_error>

#include "tools/fit/files/layered_root.h"

namespace memtrace::fit {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kNearlyNothing = 1 << 20;  // a layer with fewer bytes left is full

// Adds the names of files. A layer holds deleted files as devices, which are not folders either.
void AddNames(const fs::path& upper, const fs::path& place, std::set<std::string>& names) {
  std::error_code error;
  fs::recursive_directory_iterator files(upper, fs::directory_options::skip_permission_denied,
                                         error);
  for (; !error && files != fs::recursive_directory_iterator(); files.increment(error)) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(files->symlink_status(ignored));
    if (is_folder && files->path().filename() == "__pycache__") files.disable_recursion_pending();
    if (!is_folder) names.insert((place / files->path().lexically_relative(upper)).string());
  }
}

}  // namespace

LayerContents ReadLayer(int memory) {
  LayerContents contents;
  const fs::path folder = "/proc/self/fd/" + std::to_string(memory);
  struct statvfs space = {};
  if (fstatvfs(memory, &space) == 0) {
    contents.bytes = space.f_blocks * space.f_frsize;
    contents.is_full = space.f_bavail * space.f_frsize < kNearlyNothing || space.f_favail == 0;
  }
  std::ifstream places(folder / kPlacesFile);
  uint64_t number = 0;
  for (std::string place; std::getline(places, place, '\0'); ++number)
    AddNames(folder / kUpperFolders / std::to_string(number), place, contents.names);
  return contents;
}

}  // namespace memtrace::fit
