// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_PACKAGE_FOLDER_H_
#define MEMTRACE_TOOLS_LAUNCH_PACKAGE_FOLDER_H_

#include <filesystem>

#include "absl/status/statusor.h"

namespace memtrace::launch {

// Returns the folder of the installed Python package `memtrace`, with inject/ (sitecustomize) and
// lib/ (the libraries): $MEMTRACE_HOME, or its place beside this program in an environment
// (bin/../lib/python3*/site-packages/memtrace), a wheel's target folder, or a build tree. If there
// is none, returns kFailedPrecondition with what to do.
absl::StatusOr<std::filesystem::path> FindPackageFolder();

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_PACKAGE_FOLDER_H_
