// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/preload/python_start.h"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/environment.h"
#include "interpose/preload/core_library.h"
#include "interpose/preload/own_folder.h"

namespace memtrace::preload {
namespace {

char ignoring_option;  // 'I', 'E' or 'S' if the interpreter was given it

bool BeginsWith(const char* text, const char* beginning) {
  return std::strncmp(text, beginning, std::strlen(beginning)) == 0;
}

bool IsPython() {
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
  if (length <= 0) return false;
  program[length] = '\0';
  const char* slash = std::strrchr(program, '/');
  const char* name = slash != nullptr ? slash + 1 : program;
  return BeginsWith(name, "python") || BeginsWith(name, "pypy");
}

// Searches the interpreter's own options, which end at the script, -c or -m.
char FindIgnoringOption(int argc, char** argv) {
  for (int i = 1; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; ++i) {
    if (argv[i][1] == '-') {
      if (std::strcmp(argv[i], "--check-hash-based-pycs") == 0) ++i;
      continue;
    }
    for (const char* letter = argv[i] + 1; *letter != '\0'; ++letter) {
      if (std::strchr("IES", *letter) != nullptr) return *letter;
      if (std::strchr("cm", *letter) != nullptr) return '\0';
      if (std::strchr("WX", *letter) != nullptr) {  // takes the rest, or the next word
        if (letter[1] == '\0') ++i;
        break;
      }
    }
  }
  return '\0';
}

// True if `path` is one of the folders in `list`, which are joined by ':'.
bool Contains(const char* list, const char* path) {
  const size_t length = std::strlen(path);
  for (const char* at = std::strstr(list, path); at != nullptr; at = std::strstr(at + 1, path)) {
    const bool begins = at == list || at[-1] == ':';
    if (begins && (at[length] == '\0' || at[length] == ':')) return true;
  }
  return false;
}

void PrependToPythonPath(const char* folder) {
  const char* paths = env::Pointer(env::kPythonPath);
  if (paths == nullptr || *paths == '\0') {
    setenv(env::kPythonPath.name(), folder, 1);
    return;
  }
  if (Contains(paths, folder)) return;
  auto* joined = static_cast<char*>(std::malloc(std::strlen(folder) + 1 + std::strlen(paths) + 1));
  if (joined == nullptr) return;
  std::strcpy(joined, folder);
  std::strcat(joined, ":");
  std::strcat(joined, paths);
  setenv(env::kPythonPath.name(), joined, 1);
  std::free(joined);
}

}  // namespace

void HookPython(int argc, char** argv) {
  if (!IsPython()) return;
  ignoring_option = FindIgnoringOption(argc, argv);
  if (ignoring_option != '\0') return;
  const OwnPath site("../inject/sitecustomize.py");
  if (access(site.text(), R_OK) != 0) return;
  const OwnPath inject("../inject");
  PrependToPythonPath(inject.text());
}

void WarnIfPythonIsNotHooked() {
  if (ignoring_option == '\0') return;
  const char option[] = {'-', ignoring_option, '\0'};
  Say("Only memory that the program takes from the driver is recorded, without tensors, roles and "
      "steps, because python does not load memtrace with ",
      option);
}

}  // namespace memtrace::preload
