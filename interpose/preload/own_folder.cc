// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/preload/own_folder.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace memtrace::preload {
namespace {

constexpr const char* kParent = "../";

// Cuts the last part of a path; the root becomes empty.
void DropLastPart(char* path) {
  char* slash = std::strrchr(path, '/');
  if (slash != nullptr) *slash = '\0';
}

}  // namespace

OwnPath::OwnPath(const char* name) {
  text_[0] = '\0';
  Dl_info info = {};
  static const char kHere = 0;
  if (dladdr(&kHere, &info) == 0 || realpath(info.dli_fname, text_) == nullptr) return;
  DropLastPart(text_);
  for (; std::strncmp(name, kParent, std::strlen(kParent)) == 0; name += std::strlen(kParent))
    DropLastPart(text_);
  const size_t length = std::strlen(text_);
  if (length + 1 + std::strlen(name) >= sizeof(text_)) {
    text_[0] = '\0';
    return;
  }
  text_[length] = '/';
  std::strcpy(text_ + length + 1, name);
}

}  // namespace memtrace::preload
