// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_WHY_FAILED_H_
#define MEMTRACE_TOOLS_FIT_WHY_FAILED_H_

#include <string>
#include <string_view>

namespace memtrace::fit {

// The last line of a log if that is memtrace's own, "memtrace: ...", without its beginning; empty
// if it is not.
std::string OwnSentence(std::string_view log);

// Where a program was when its time was nearly over, "train.py:12"; empty if it did not say.
std::string PlaceAtEnd(std::string_view log);

// What a Python program that failed by itself wanted, and what to do, as a clause: "train.py:12
// wants the network (ConnectionError); ...". From the last traceback of what it printed; empty if
// there is none. A last line of memtrace's own says it itself. `has_stub`: a stand-in is given
// already, so none is offered.
std::string WhyFailed(std::string_view log, bool has_stub);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_WHY_FAILED_H_
