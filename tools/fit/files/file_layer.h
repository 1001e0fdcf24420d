// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FILES_FILE_LAYER_H_
#define MEMTRACE_TOOLS_FIT_FILES_FILE_LAYER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/fit/files/layer_contents.h"
#include "tools/fit/files/layered_root.h"
#include "tools/launch/launch_plan.h"

namespace memtrace::fit {

// How the user's files are kept from what the runs write (docs/design/fit.md, "The user's files").
struct FileKeeping {
  uint64_t layer_bytes = 0;    // the most that a run may write; 0: it has no layer
  std::string why_no_layer;    // the kernel's reason; "" if it has a layer
  bool has_own_users = false;  // the layer is in a user namespace, where the kernel refuses more
};

// Returns the layer that MEMTRACE_FIT_OVERLAY requests (0, or the most a run may write; by default
// a quarter of the memory), or why the kernel does not allow it, which a child process tries.
// Returns kInvalidArgument, with a sentence, if the value is malformed.
absl::StatusOr<FileKeeping> FindFileKeeping(const launch::Environment& environment,
                                            const std::string& scratch);

// The layer of one run over all that it can write to. It exists until this and the run have ended.
class FileLayer {
 public:
  // Makes a layer of so many bytes; `scratch` is the run's own folder.
  FileLayer(const launch::Environment& environment, const std::string& scratch, uint64_t bytes);
  FileLayer(const FileLayer&) = delete;
  FileLayer& operator=(const FileLayer&) = delete;
  ~FileLayer();

  // Enters the layer. Call in the child that becomes the run, before it executes its program. Adds
  // to `environment` what the program needs there.
  absl::Status Enter(launch::Environment& environment) const;

  // Makes the layer in a process that ends at once, so that a run can enter it that another process
  // starts, which is in the layer `others` and has the rights of KeepRightToEnter(). Call in the
  // parent.
  absl::Status MakeFor(FileLayer& others);

  // Keeps the right to enter another layer, which a process of no root loses when it executes its
  // program. Call after Enter().
  static absl::Status KeepRightToEnter();

  // Takes over the layer of a run that has ended, so that another can enter it. Call in the parent.
  void Keep();

  // The mount namespace of a layer that was kept, and the folder to enter in it; -1 if there is
  // none.
  int mounts() const { return mounts_; }
  const std::string& working_folder() const { return plan_.working_folder.native(); }

  // Does the same as Enter() with the layer that was kept: the run sees what the one before it
  // wrote.
  absl::Status EnterAgain(launch::Environment& environment) const;

  // Returns what the run left. Call in the parent, after the run has ended. Nothing if it did not
  // begin.
  std::optional<LayerContents> Contents();

 private:
  LayerPlan plan_;
  int ours_ = -1;  // a pair of sockets, by which the child hands over the open layer
  int childs_ = -1;
  // These were taken over and are to be closed; -1 if they were not.
  int memory_ = -1;
  int mounts_ = -1;  // the mount namespace
  int users_ = -1;   // the user namespace that was made for the layer
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FILES_FILE_LAYER_H_
