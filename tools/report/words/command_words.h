// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_COMMAND_WORDS_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_COMMAND_WORDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analysis/source/run_facts.h"

namespace memtrace::report {

// Returns the command as a person would type it: the program without its folder, and paths below
// the reader's current folder relative to it.
//
//   /venv/bin/python /home/ada/work/train.py --steps 2   ->   python train.py --steps 2
//
// If that is longer than `width`, other absolute paths also lose their folders.
std::string ShortCommand(const analysis::RunFacts& run, size_t width);

// Returns the words of the command with their folders, for a command that is to be run again: the
// program without its folder, and paths below the reader's current folder relative to it. Empty if
// the words are not known.
std::vector<std::string> CommandWords(const analysis::RunFacts& run);

// Returns the text as one word of a command line, as a POSIX shell reads it back: quoted if it has
// to be.
std::string ShellWord(const std::string& text);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_COMMAND_WORDS_H_
