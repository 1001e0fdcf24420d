// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_VERIFY_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_VERIFY_REPORT_H_

#include <string>
#include <vector>

#include "tools/analysis/checks/verification.h"

namespace memtrace::report {

// Returns one line: that the file is whole, or what is wrong, where, and how much can be read.
std::string VerifyLine(const analysis::Verification& verification);

// Returns JSON, schema memtrace.verify/1, with all files.
std::string JsonVerify(const std::vector<analysis::Verification>& verifications);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_VERIFY_REPORT_H_
