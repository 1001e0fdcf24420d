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

// The parts of a layered root. All paths are absolute and without links.
struct LayerPlan {
  std::filesystem::path scratch;            // a folder of the run, which has no layer
  std::vector<std::filesystem::path> seen;  // more folders without a layer, if they exist
  std::filesystem::path working_folder;
  std::vector<std::filesystem::path> needed;  // folders in which the run must be able to make files
  uint64_t bytes = 0;                         // the size of the layer
};

// Names in the memory that holds a layer.
inline constexpr const char* kPlacesFile = "places";    // the places of upper folders, ended by NUL
inline constexpr const char* kUpperFolders = "upper";   // "upper/0" belongs to the first place
inline constexpr const char* kTemporaryFolder = "tmp";  // appears as scratch/tmp

// Puts layers in memory over all file systems that this process and its children see, so that what
// they write goes there. The kernel's file systems (devices, /proc, /dev/shm) stay as they are.
// Call in a child with one thread, before it executes a program.
class LayeredRoot {
 public:
  explicit LayeredRoot(LayerPlan plan) : plan_(std::move(plan)) {}

  // Enters new namespaces, mounts, and makes the result the root. An error is a sentence with what
  // the kernel refused; the process is then unusable.
  absl::Status Enter();

  // The open folder with the memory of the layers; -1 before Enter().
  int memory() const { return memory_; }

  // True if the process is in a user namespace that is not the machine's first.
  bool has_own_users() const { return has_own_users_; }
  // True if Enter() has made that user namespace.
  bool has_made_users() const { return has_made_users_; }

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
  absl::Status BindUnlayeredPaths();
  absl::Status WritePlaces() const;
  absl::Status MakeRoot() const;

  bool HasMountBelow(const std::string& path) const;
  std::string Target(const std::string& path) const;  // its path in the new root

  LayerPlan plan_;
  std::vector<Mount> mounts_;
  std::vector<std::string> whole_;   // places that already include all mounts in them
  std::vector<std::string> places_;  // places that have a layer
  std::filesystem::path files_;      // the memory
  int memory_ = -1;
  bool has_own_users_ = false;
  bool has_made_users_ = false;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FILES_LAYERED_ROOT_H_
