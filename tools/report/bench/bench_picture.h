// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_BENCH_BENCH_PICTURE_H_
#define MEMTRACE_TOOLS_REPORT_BENCH_BENCH_PICTURE_H_

#include "tools/report/bench/bench_report.h"
#include "tools/report/picture/drawing.h"

namespace memtrace::report {

// Returns the reserved bytes of each allocator over the recorded requests, on the card of the
// settings: a chart for each table, with a curve for each allocator.
Drawing BenchPicture(const BenchResult& result);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_BENCH_BENCH_PICTURE_H_
