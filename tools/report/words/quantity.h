// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_QUANTITY_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_QUANTITY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::report {

// Formats bytes for sentences: "512 bytes", "1.5 KiB", "39.1 MiB", "5.80 GiB"; powers of 2 only.
std::string FormatBytes(uint64_t bytes);
std::string FormatSignedBytes(int64_t bytes);  // "-1.5 KiB"

std::string FormatSeconds(uint64_t nanoseconds);   // "12.34 s", rounded down
std::string FormatDuration(uint64_t nanoseconds);  // "12.34 s", "5.6 ms", "7.8 us"; rounded down

std::string FormatCount(uint64_t count);  // "41,212"

// The sum and the difference of bytes, which a forged trace may choose: they stop at the largest
// and the smallest number of their type.
int64_t SumOfBytes(int64_t a, int64_t b);
int64_t DifferenceOfBytes(int64_t a, int64_t b);

// The unit of a whole table, so that a reader can add up its column.
struct TableUnit {
  std::string_view name;  // "GiB" or "MiB"
  uint64_t bytes = 1;
};
TableUnit UnitFor(uint64_t largest);

// Returns hundredths of a unit, for a column whose printed figures add up to the printed total.
// Each is rounded down, and the missing hundredths go to those that lost most. Equal bytes get
// equal figures, so what is left over may go to a figure that lost nothing. No figure is off by
// more than 0.01 units. If all are equal, the figures may add up to less than the total.
std::vector<int64_t> AdditiveHundredths(const std::vector<int64_t>& bytes, int64_t total,
                                        TableUnit unit);
int64_t Hundredths(int64_t bytes, TableUnit unit);  // to the nearest

std::string FormatHundredths(int64_t hundredths);          // "23.48"
std::string FormatFigure(uint64_t bytes, TableUnit unit);  // the same for bytes, to the nearest
std::string FormatRest(uint64_t rows, uint64_t bytes);     // for a table: "3 more, 1.5 MiB"

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_QUANTITY_H_
