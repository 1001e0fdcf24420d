// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FILES_LAYERED_ROOT_H_
#define MEMTRACE_TOOLS_FIT_FILES_LAYERED_ROOT_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/fit/files/mount_table.h"

namespace memtrace::fit {

// What a layered root is made of. All paths are absolute and without links.
struct LayerPlan {
  std::filesystem::path scratch;            // a folder of the run, which it sees as it is
  std::vector<std::filesystem::path> seen;  // also seen as they are, where they exist
  std::filesystem::path working_folder;
  std::vector<std::filesystem::path> needed;  // folders in which the run must be able to make files
  uint64_t bytes = 0;                         // that the layer may hold
};

// Where things lie in the memory that holds a layer.
inline constexpr const char* kPlacesFile = "places";    // of each upper folder, each ended by NUL
inline constexpr const char* kUpperFolders = "upper";   // "upper/0" is of the first place
inline constexpr const char* kTemporaryFolder = "tmp";  // seen as scratch/tmp

// Makes this process, and all that it starts, see all file systems under layers in memory: what is
// written goes there. The kernel's file systems (devices, /proc, /dev/shm) stay as they are. Call
// in a child that has one thread, before it executes a program.
class LayeredRoot {
 public:
  explicit LayeredRoot(LayerPlan plan) : plan_(std::move(plan)) {}

  // Enters namespaces of its own, mounts, and makes the result the root. If it fails, what the
  // kernel refused, in a sentence; the process is then of no use.
  absl::Status Enter();

  // An open folder with the memory of the layers; -1 before it is entered.
  int memory() const { return memory_; }

  // True if the process is in a user namespace that is not the machine's first.
  bool has_own_users() const { return has_own_users_; }

 private:
  absl::Status EnterNamespaces();
  absl::Status MountMemory();
  absl::Status PlaceAll();
  absl::Status PlaceMount(const Mount& mount);
  absl::Status PlaceFolder(const std::string& path, bool is_read_only);
  absl::Status Overlay(const std::string& path, bool is_read_only);
  absl::Status PlaceEntries(const std::string& path);
  absl::Status PlaceEntry(const std::string& path);
  absl::Status BindReadOnly(const std::string& path);
  absl::Status ShowAsTheyAre();
  absl::Status WritePlaces() const;
  absl::Status MakeRoot() const;

  bool HasMountBelow(const std::string& path) const;
  std::string Target(const std::string& path) const;  // where `path` is in the new root

  LayerPlan plan_;
  std::vector<Mount> mounts_;
  std::vector<std::string> whole_;   // places that have all that is mounted in them already
  std::vector<std::string> places_;  // that have a layer
  std::filesystem::path files_;      // the memory
  int memory_ = -1;
  bool has_own_users_ = false;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FILES_LAYERED_ROOT_H_
