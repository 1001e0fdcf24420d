// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_RECORDED_PATHS_H_
#define MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_RECORDED_PATHS_H_

#include <string>
#include <string_view>

namespace memtrace {

// `text` with each path in it cut to its last part: "--data=/home/ann/x.bin,b/c" becomes
// "--data=x.bin,c". A path ends at a blank, a quote, a bracket or one of = , ; : and at the end.
std::string WithoutFolders(std::string_view text);

// `text` as a trace may have it: without folders if MEMTRACE_PATHS=0 (memtrace run --no-paths).
std::string AsRecorded(std::string text);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_RECORDED_PATHS_H_
