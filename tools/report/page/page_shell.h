// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_PAGE_SHELL_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_PAGE_SHELL_H_

#include <string_view>

namespace memtrace::report {

// make_shell.py writes these from the files of this folder when memtrace is built.
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
// The hashes in the form of a content security policy: "sha256-...".
extern const std::string_view kPageStyleHash;
extern const std::string_view kPageScriptHash;

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_PAGE_SHELL_H_
