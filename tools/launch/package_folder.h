// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_PACKAGE_FOLDER_H_
#define MEMTRACE_TOOLS_LAUNCH_PACKAGE_FOLDER_H_

#include <filesystem>

#include "absl/status/statusor.h"

namespace memtrace::launch {

// The installed Python package `memtrace`, with inject/ (sitecustomize) and lib/ (the libraries):
// $MEMTRACE_HOME, or where it lies beside this program in an environment (bin/../lib/python3*/
// site-packages/memtrace), a wheel's target folder, or a build tree. kFailedPrecondition with what
// to do if there is none.
absl::StatusOr<std::filesystem::path> FindPackageFolder();

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_PACKAGE_FOLDER_H_
