// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/verbs.h"

int main(int argc, char** argv) {
  using memtrace::command::DefineCards;
  using memtrace::command::DefineDoctor;
  using memtrace::command::DefineExport;
  using memtrace::command::DefineImport;
  using memtrace::command::DefinePlan;
  using memtrace::command::DefineReplay;
  using memtrace::command::DefineReport;
  using memtrace::command::DefineRun;
  using memtrace::command::DefineSnapshot;
  using memtrace::command::DefineStats;
  using memtrace::command::DefineTop;
  return memtrace::command::RunProgram(
      {
          {.name = "run", .define = DefineRun, .starts_program = true},
          {.name = "report", .define = DefineReport},
          {.name = "stats", .define = DefineStats},
          {.name = "top", .define = DefineTop},
          {.name = "snapshot", .define = DefineSnapshot},
          {.name = "plan", .define = DefinePlan},
          {.name = "replay", .define = DefineReplay},
          {.name = "export", .define = DefineExport},
          {.name = "import", .define = DefineImport},
          {.name = "cards", .define = DefineCards},
          {.name = "doctor", .define = DefineDoctor},
      },
      {argv + 1, argv + argc});
}
