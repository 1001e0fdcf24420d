// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/sqlite_database.h"

#include <sqlite3.h>

namespace memtrace::interchange {

SqliteDatabase::SqliteDatabase(const std::string& path) {
  Note(sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                       nullptr));
  // No other process has the file, and after a crash it is worth nothing.
  Execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;");
  Execute("BEGIN");
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close_v2(database_); }

void SqliteDatabase::Note(int result) {
  if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW || !status_.ok()) return;
  const bool full = result == SQLITE_FULL;
  status_ =
      absl::Status(full ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kUnavailable,
                   sqlite3_errmsg(database_));
}

void SqliteDatabase::Execute(const std::string& sql) {
  if (status_.ok()) Note(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr));
}

absl::Status SqliteDatabase::Close() {
  Execute("COMMIT");
  if (const int result = sqlite3_close(database_); result == SQLITE_OK) {
    database_ = nullptr;
  } else {
    Note(result);
  }
  return status_;
}

SqliteInsert::SqliteInsert(SqliteDatabase& database, const std::string& table, size_t columns,
                           const std::string& verb)
    : database_(database) {
  if (!database_.status_.ok()) return;
  std::string sql = verb + " INTO " + table + " VALUES (?";
  for (size_t i = 1; i < columns; ++i) sql += ",?";
  database_.Note(
      sqlite3_prepare_v2(database_.database_, (sql + ")").c_str(), -1, &statement_, nullptr));
}

SqliteInsert::~SqliteInsert() { sqlite3_finalize(statement_); }

SqliteInsert& SqliteInsert::Integer(int64_t value) {
  if (statement_ != nullptr) database_.Note(sqlite3_bind_int64(statement_, ++column_, value));
  return *this;
}

SqliteInsert& SqliteInsert::Text(std::string_view value) {
  if (statement_ == nullptr) return *this;
  database_.Note(sqlite3_bind_text64(statement_, ++column_, value.data(), value.size(),
                                     SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

SqliteInsert& SqliteInsert::Null() {
  if (statement_ != nullptr) database_.Note(sqlite3_bind_null(statement_, ++column_));
  return *this;
}

void SqliteInsert::Done() {
  column_ = 0;
  if (statement_ == nullptr || !database_.status_.ok()) return;
  database_.Note(sqlite3_step(statement_));
  sqlite3_reset(statement_);
}

}  // namespace memtrace::interchange
