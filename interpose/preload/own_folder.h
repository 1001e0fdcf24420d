// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_OWN_FOLDER_H_
#define MEMTRACE_INTERPOSE_PRELOAD_OWN_FOLDER_H_

#include <climits>

namespace memtrace::preload {

// The path of a file installed with this library (lib/libmemtrace_preload.so of the Python
// package). Links are resolved. "" if it is too long.
class OwnPath {
 public:
  // `name` is relative to this library's folder; "../inject" leaves it.
  explicit OwnPath(const char* name);

  const char* text() const { return text_; }

 private:
  char text_[PATH_MAX];
};

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_OWN_FOLDER_H_
