// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PICTURE_PNG_FILE_H_
#define MEMTRACE_TOOLS_REPORT_PICTURE_PNG_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/report/picture/drawing.h"

namespace memtrace::report {

// Returns the drawing as a PNG file of twice its width and height, for screens with fine pixels.
// Latin text is drawn with DejaVu Sans Mono, which the program carries. Returns kUnavailable, with
// a sentence, if a text has characters for which the system has no font.
absl::StatusOr<std::string> PngFile(const Drawing& drawing);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PICTURE_PNG_FILE_H_
