// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/parquet/parquet_part.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/writer.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct memtrace_parquet_table {
  std::shared_ptr<arrow::Schema> schema;
  std::shared_ptr<arrow::io::FileOutputStream> file;
  std::unique_ptr<parquet::arrow::FileWriter> writer;
};

namespace {

// Stacks are long and few, so their dictionary outgrows the usual 1 MiB.
constexpr int64_t kDictionaryBytes = 64 << 20;

int Tell(const arrow::Status& status, char* error, int room) {
  if (status.ok()) return 0;
  std::snprintf(error, static_cast<size_t>(room), "%s", status.message().c_str());
  return 1;
}

arrow::Result<std::unique_ptr<memtrace_parquet_table>> Create(
    const char* path, const memtrace_parquet_column* columns, int count, const char* schema_name) {
  auto table = std::make_unique<memtrace_parquet_table>();
  arrow::FieldVector fields;
  for (int i = 0; i < count; ++i) {
    const bool text = columns[i].type == MEMTRACE_PARQUET_TEXT;
    fields.push_back(arrow::field(columns[i].name, text ? arrow::utf8() : arrow::int64()));
  }
  table->schema =
      arrow::schema(fields, arrow::key_value_metadata({"memtrace.schema"}, {schema_name}));
  ARROW_ASSIGN_OR_RAISE(table->file, arrow::io::FileOutputStream::Open(path));
  const auto properties = parquet::WriterProperties::Builder()
                              .compression(parquet::Compression::ZSTD)
                              ->dictionary_pagesize_limit(kDictionaryBytes)
                              ->build();
  const auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
  ARROW_ASSIGN_OR_RAISE(
      table->writer, parquet::arrow::FileWriter::Open(*table->schema, arrow::default_memory_pool(),
                                                      table->file, properties, arrow_properties));
  return table;
}

arrow::Result<std::shared_ptr<arrow::Array>> Integers(const memtrace_parquet_values& column,
                                                      int64_t rows) {
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.AppendValues(column.values, rows, column.is_there));
  return builder.Finish();
}

arrow::Result<std::shared_ptr<arrow::Array>> Texts(const memtrace_parquet_values& column,
                                                   int64_t rows) {
  arrow::StringBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(rows));
  for (int64_t row = 0; row < rows; ++row) {
    if (column.is_there[row] == 0) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
      continue;
    }
    const int64_t begin = column.offsets[row];
    const auto size = static_cast<size_t>(column.offsets[row + 1] - begin);
    ARROW_RETURN_NOT_OK(builder.Append(std::string_view(column.text + begin, size)));
  }
  return builder.Finish();
}

arrow::Status Append(memtrace_parquet_table& table, const memtrace_parquet_values* columns,
                     int64_t rows) {
  arrow::ArrayVector arrays;
  for (int i = 0; i < table.schema->num_fields(); ++i) {
    const bool text = table.schema->field(i)->type()->id() == arrow::Type::STRING;
    ARROW_ASSIGN_OR_RAISE(auto array, text ? Texts(columns[i], rows) : Integers(columns[i], rows));
    arrays.push_back(std::move(array));
  }
  return table.writer->WriteTable(*arrow::Table::Make(table.schema, arrays, rows), rows);
}

}  // namespace

memtrace_parquet_table* memtrace_parquet_create(const char* path,
                                                const memtrace_parquet_column* columns, int count,
                                                const char* schema_name, char* error, int room) {
  auto table = Create(path, columns, count, schema_name);
  return Tell(table.status(), error, room) == 0 ? table->release() : nullptr;
}

int memtrace_parquet_append(memtrace_parquet_table* table, const memtrace_parquet_values* columns,
                            int64_t rows, char* error, int room) {
  return Tell(Append(*table, columns, rows), error, room);
}

int memtrace_parquet_close(memtrace_parquet_table* table, int keep, char* error, int room) {
  const std::unique_ptr<memtrace_parquet_table> owned(table);
  if (keep == 0) return 0;
  const int wrong = Tell(owned->writer->Close(), error, room);
  return wrong != 0 ? wrong : Tell(owned->file->Close(), error, room);
}
