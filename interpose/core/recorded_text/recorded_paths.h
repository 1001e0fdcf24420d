// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_RECORDED_PATHS_H_
#define MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_RECORDED_PATHS_H_

#include <string>
#include <string_view>

namespace memtrace {

// Returns `text` with each path in it cut to its last part: "--data=/home/ann/x.bin,b/c" becomes
// "--data=x.bin,c". A path ends at a blank, a quote, a bracket, one of = , ; : or the text's end.
std::string WithoutFolders(std::string_view text);

// Returns `text` as it may be recorded: without folders if MEMTRACE_PATHS=0 (memtrace run
// --no-paths).
std::string AsRecorded(std::string text);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_RECORDED_PATHS_H_
