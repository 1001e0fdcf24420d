// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/verbs/verbs.h"

int main(int argc, char** argv) {
  using memtrace::command::DefineCards;
  using memtrace::command::DefineCheck;
  using memtrace::command::DefineCompletion;
  using memtrace::command::DefineDiff;
  using memtrace::command::DefineDoctor;
  using memtrace::command::DefineEstimate;
  using memtrace::command::DefineExport;
  using memtrace::command::DefineFit;
  using memtrace::command::DefineImport;
  using memtrace::command::DefineMan;
  using memtrace::command::DefinePlan;
  using memtrace::command::DefineRepair;
  using memtrace::command::DefineReplay;
  using memtrace::command::DefineReport;
  using memtrace::command::DefineRun;
  using memtrace::command::DefineSnapshot;
  using memtrace::command::DefineStats;
  using memtrace::command::DefineTop;
  using memtrace::command::DefineTree;
  using memtrace::command::DefineVerify;
  return memtrace::command::RunProgram(
      {
          {.name = "run", .define = DefineRun, .starts_program = true},
          {.name = "fit", .define = DefineFit, .starts_program = true},
          {.name = "estimate", .define = DefineEstimate},
          {.name = "report", .define = DefineReport},
          {.name = "stats", .define = DefineStats},
          {.name = "tree", .define = DefineTree},
          {.name = "diff", .define = DefineDiff},
          {.name = "check", .define = DefineCheck},
          {.name = "top", .define = DefineTop},
          {.name = "snapshot", .define = DefineSnapshot},
          {.name = "plan", .define = DefinePlan},
          {.name = "replay", .define = DefineReplay},
          {.name = "export", .define = DefineExport},
          {.name = "import", .define = DefineImport},
          {.name = "verify", .define = DefineVerify},
          {.name = "repair", .define = DefineRepair},
          {.name = "cards", .define = DefineCards},
          {.name = "doctor", .define = DefineDoctor},
          {.name = "completion", .define = DefineCompletion},
          {.name = "man", .define = DefineMan},
      },
      {argv + 1, argv + argc});
}
