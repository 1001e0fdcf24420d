// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PICTURE_SVG_FILE_H_
#define MEMTRACE_TOOLS_REPORT_PICTURE_SVG_FILE_H_

#include <string>

#include "tools/report/picture/drawing.h"

namespace memtrace::report {

// Returns the drawing as an SVG file, whose text can be searched and copied. Each text has the
// width that the drawing gives it, whatever font the reader has.
std::string SvgFile(const Drawing& drawing);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PICTURE_SVG_FILE_H_
