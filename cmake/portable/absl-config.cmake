# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Abseil, compiled here: Debian's archives have code that only a program may contain (thread-local storage).
set(ABSL_PROPAGATE_CXX_STD ON)
add_subdirectory(${MEMTRACE_SOURCES}/abseil ${PROJECT_BINARY_DIR}/abseil EXCLUDE_FROM_ALL SYSTEM)
