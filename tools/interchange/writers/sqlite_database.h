// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SQLITE_DATABASE_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SQLITE_DATABASE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace memtrace::interchange {

// A new SQLite file, written in one transaction. After an error everything else is dropped; Close
// returns the first error, in SQLite's words.
class SqliteDatabase {
 public:
  explicit SqliteDatabase(const std::string& path);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  void Execute(const std::string& sql);
  absl::Status Close();

 private:
  friend class SqliteInsert;
  void Note(int result);

  sqlite3* database_ = nullptr;
  absl::Status status_;
};

// Inserts rows into one table, value by value from the first column on.
class SqliteInsert {
 public:
  // `verb`: "INSERT" or "INSERT OR REPLACE".
  SqliteInsert(SqliteDatabase& database, const std::string& table, size_t columns,
               const std::string& verb = "INSERT");
  ~SqliteInsert();
  SqliteInsert(const SqliteInsert&) = delete;
  SqliteInsert& operator=(const SqliteInsert&) = delete;

  SqliteInsert& Integer(int64_t value);  // from 2^63 on negative, as SQLite's integers are
  SqliteInsert& Unsigned(uint64_t value) { return Integer(static_cast<int64_t>(value)); }
  SqliteInsert& Text(std::string_view value);
  SqliteInsert& Null();
  void Done();

 private:
  SqliteDatabase& database_;
  sqlite3_stmt* statement_ = nullptr;
  int column_ = 0;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SQLITE_DATABASE_H_
