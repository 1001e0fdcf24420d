// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_VERBS_VERBS_H_
#define MEMTRACE_TOOLS_COMMAND_VERBS_VERBS_H_

#include "tools/command/program/program.h"

// One function a verb, in the file of its name.
namespace memtrace::command {

void DefineRun(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineFit(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineEstimate(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineReport(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineDoctor(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineStats(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineTree(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineDiff(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineCheck(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineTop(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineSnapshot(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefinePlan(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineReplay(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineExport(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineImport(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineVerify(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineRepair(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineCompletion(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineMan(CLI::App& app, const Invocation& invocation, int& exit_code);
void DefineCards(CLI::App& app, const Invocation& invocation, int& exit_code);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_VERBS_VERBS_H_
