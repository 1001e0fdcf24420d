// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/verbs/verbs.h"

int main(int argc, char** argv) {
  return memtrace::command::RunProgram(memtrace::command::AllVerbs(), {argv + 1, argv + argc});
}
