// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PARQUET_PARQUET_PART_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PARQUET_PARQUET_PART_H_

#include <stdint.h>

// The interface to libmemtrace_parquet.so, which the program opens when Parquet is requested,
// because Arrow is large and not installed everywhere. It is C, so that nothing of Arrow's C++ is
// seen on this side. Thread rule: one thread.

#ifdef __cplusplus
extern "C" {
#endif

#define MEMTRACE_PARQUET_API __attribute__((visibility("default")))

enum memtrace_parquet_type { MEMTRACE_PARQUET_INTEGER = 0, MEMTRACE_PARQUET_TEXT = 1 };

struct memtrace_parquet_column {
  const char* name;
  int type;
};

// Some rows of one column. Integers are in `values`; texts are in `text`, UTF-8, with `rows` + 1
// `offsets` into it.
struct memtrace_parquet_values {
  const uint8_t* is_there;  // a byte a row; 0: null
  const int64_t* values;
  const char* text;
  const int64_t* offsets;
};

struct memtrace_parquet_table;

// Creates a file. Returns null on failure; the sentence is then in `error` (`room` bytes), as for
// the functions below.
MEMTRACE_PARQUET_API struct memtrace_parquet_table* memtrace_parquet_create(
    const char* path, const struct memtrace_parquet_column* columns, int count,
    const char* schema_name, char* error, int room);
// Appends one row group. Returns 0 on success.
MEMTRACE_PARQUET_API int memtrace_parquet_append(struct memtrace_parquet_table* table,
                                                 const struct memtrace_parquet_values* columns,
                                                 int64_t rows, char* error, int room);
// Completes the file if `keep`, and frees the table either way. Returns 0 on success.
MEMTRACE_PARQUET_API int memtrace_parquet_close(struct memtrace_parquet_table* table, int keep,
                                                char* error, int room);

#ifdef __cplusplus
}
#endif

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PARQUET_PARQUET_PART_H_
