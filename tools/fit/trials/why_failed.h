// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_TRIALS_WHY_FAILED_H_
#define MEMTRACE_TOOLS_FIT_TRIALS_WHY_FAILED_H_

#include <string>
#include <string_view>

namespace memtrace::fit {

// Returns the last line of a log if it is memtrace's own, "memtrace: ...", without this prefix;
// else empty.
std::string LastMemtraceSentence(std::string_view log);

// Returns the program's line when its time was nearly over, "train.py:12"; empty if not known.
std::string PlaceAtEnd(std::string_view log);

// Returns, as a clause, what a Python program that failed by itself needed, and what to do:
// "train.py:12 needs the network or a hub (ConnectionError); ...". It reads the last traceback in
// the output; empty if there is none. If the last line is memtrace's own, returns that. `has_stub`
// is true if a stand-in is given already, so that none is offered.
std::string WhyFailed(std::string_view log, bool has_stub);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_TRIALS_WHY_FAILED_H_
