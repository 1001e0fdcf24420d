// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/parquet_writer.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "tools/interchange/parquet/parquet_part.h"
#include "tools/interchange/writers/rows/block_row.h"
#include "tools/interchange/writers/rows/event_detail.h"
#include "tools/interchange/writers/rows/event_row.h"
#include "tools/interchange/writers/timeline_writers.h"

namespace memtrace::interchange {
namespace {

constexpr size_t kGroup = 122'880;        // rows; DuckDB's own
constexpr size_t kGroupText = 256 << 20;  // bytes of one column; Arrow's texts end at 2 GiB
constexpr size_t kCachedText = 64 << 20;  // of stacks written out

// The functions of the part.
struct ParquetPart {
  decltype(&memtrace_parquet_create) create = nullptr;
  decltype(&memtrace_parquet_append) append = nullptr;
  decltype(&memtrace_parquet_close) close = nullptr;
};

template <typename Function>
Function Symbol(void* handle, const char* name) {
  return reinterpret_cast<Function>(dlsym(handle, name));
}

absl::StatusOr<ParquetPart> OpenPart(const std::string& library) {
  constexpr const char* kInstead = "; or use --to sqlite, which DuckDB also reads";
  if (!std::filesystem::exists(library)) {
    return absl::FailedPreconditionError(
        std::string("this memtrace was built without Parquet: install pyarrow into its environment "
                    "and build it again") +
        kInstead);
  }
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::FailedPreconditionError(
        std::string("Parquet needs pyarrow " MEMTRACE_PYARROW
                    " in memtrace's environment: pip install 'pyarrow==" MEMTRACE_PYARROW ".*' (") +
        dlerror() + ")" + kInstead);
  }
  ParquetPart part;
  part.create = Symbol<decltype(part.create)>(handle, "memtrace_parquet_create");
  part.append = Symbol<decltype(part.append)>(handle, "memtrace_parquet_append");
  part.close = Symbol<decltype(part.close)>(handle, "memtrace_parquet_close");
  if (part.create != nullptr && part.append != nullptr && part.close != nullptr) return part;
  return absl::FailedPreconditionError(library +
                                       " belongs to another memtrace; install this one again");
}

// The values of one column that wait to be written.
struct ColumnBuffer {
  std::vector<uint8_t> is_there;
  std::vector<int64_t> values;
  std::string text;
  std::vector<int64_t> offsets = {0};
};

template <typename Row, size_t kColumns>
class ParquetTable {
 public:
  ParquetTable(const ParquetPart& part, const ExportedRun& run,
               const std::array<Column<Row>, kColumns>& columns)
      : part_(part), run_(run), columns_(columns) {}

  absl::Status Create(const std::string& path, const char* schema) {
    std::array<memtrace_parquet_column, kColumns> described;
    std::array<std::string, kColumns> names;
    for (size_t i = 0; i < kColumns; ++i) {
      names[i] = columns_[i].name;
      described[i] = {names[i].c_str(),
                      IsText(i) ? MEMTRACE_PARQUET_TEXT : MEMTRACE_PARQUET_INTEGER};
    }
    table_ = part_.create(path.c_str(), described.data(), kColumns, schema, error_.data(),
                          static_cast<int>(error_.size()));
    return table_ != nullptr ? absl::OkStatus() : absl::UnavailableError(error_.data());
  }

  void Add(const Row& row) {
    if (!status_.ok()) return;
    bool full = ++rows_ == kGroup;
    for (size_t i = 0; i < kColumns; ++i) {
      std::visit([this, i](const auto& cell) { this->Append(i, cell); }, columns_[i].cell(row));
      full = full || buffers_[i].text.size() > kGroupText;
    }
    if (full) Flush();
  }

  absl::Status Close() {
    Flush();
    const int wrong =
        part_.close(table_, status_.ok() ? 1 : 0, error_.data(), static_cast<int>(error_.size()));
    if (wrong != 0) Fail();
    return status_;
  }

 private:
  bool IsText(size_t i) const {
    const ColumnType type = columns_[i].type;
    return type == ColumnType::kText || type == ColumnType::kName || type == ColumnType::kStack;
  }

  void Append(size_t i, std::monostate) { Put(i, false, 0, ""); }
  void Append(size_t i, int64_t value) { Put(i, true, value, ""); }
  void Append(size_t i, uint64_t value) { Put(i, true, static_cast<int64_t>(value), ""); }
  void Append(size_t i, Address address) { Append(i, address.value); }
  void Append(size_t i, std::string_view text) { Put(i, true, 0, text); }
  void Append(size_t i, Name name) {
    Put(i, true, 0, Text(names_, name.id, [this](trace::StringId id) {
          return std::string(run_.events.String(id));
        }));
  }
  void Append(size_t i, StackRef stack) {
    Put(i, true, 0,
        Text(stacks_, stack.id, [this](trace::StackId id) { return StackText(id, run_); }));
  }

  template <typename Render>
  std::string_view Text(absl::flat_hash_map<uint32_t, std::string>& cache, uint32_t id,
                        const Render& render) {
    if (const auto known = cache.find(id); known != cache.end()) return known->second;
    if (cached_bytes_ > kCachedText) {
      names_.clear();
      stacks_.clear();
      cached_bytes_ = 0;
    }
    std::string text = ValidUtf8(render(id));
    cached_bytes_ += text.size();
    return cache.emplace(id, std::move(text)).first->second;
  }

  void Put(size_t i, bool is_there, int64_t value, std::string_view text) {
    ColumnBuffer& buffer = buffers_[i];
    buffer.is_there.push_back(is_there ? 1 : 0);
    if (!IsText(i)) {
      buffer.values.push_back(value);
      return;
    }
    buffer.text += text;
    buffer.offsets.push_back(static_cast<int64_t>(buffer.text.size()));
  }

  void Flush() {
    if (rows_ == 0 || !status_.ok()) return;
    std::array<memtrace_parquet_values, kColumns> values;
    for (size_t i = 0; i < kColumns; ++i) {
      const ColumnBuffer& buffer = buffers_[i];
      values[i] = {buffer.is_there.data(), buffer.values.data(), buffer.text.data(),
                   buffer.offsets.data()};
    }
    if (part_.append(table_, values.data(), static_cast<int64_t>(rows_), error_.data(),
                     static_cast<int>(error_.size())) != 0) {
      Fail();
    }
    rows_ = 0;
    for (ColumnBuffer& buffer : buffers_) {
      buffer.is_there.clear();
      buffer.values.clear();
      buffer.text.clear();
      buffer.offsets.assign(1, 0);
    }
  }

  void Fail() {
    if (status_.ok()) status_ = absl::UnavailableError(error_.data());
  }

  const ParquetPart& part_;
  const ExportedRun& run_;
  const std::array<Column<Row>, kColumns>& columns_;
  memtrace_parquet_table* table_ = nullptr;
  std::array<char, 512> error_ = {};
  std::array<ColumnBuffer, kColumns> buffers_;
  size_t rows_ = 0;
  absl::Status status_;
  absl::flat_hash_map<uint32_t, std::string> names_;
  absl::flat_hash_map<uint32_t, std::string> stacks_;
  size_t cached_bytes_ = 0;
};

}  // namespace

absl::Status WriteParquetEvents(const ExportedRun& run, const std::string& path,
                                const std::string& library) {
  const auto part = OpenPart(library);
  if (!part.ok()) return part.status();
  ParquetTable table(*part, run, kEventColumns);
  MEMTRACE_RETURN_IF_ERROR(table.Create(path, "memtrace.events/1"));
  ForEachRow(run, [&table](const EventRow& row) { table.Add(row); });
  return table.Close();
}

absl::Status WriteParquetBlocks(const ExportedRun& run, const std::string& path,
                                const std::string& library) {
  const auto part = OpenPart(library);
  if (!part.ok()) return part.status();
  ParquetTable table(*part, run, kBlockColumns);
  MEMTRACE_RETURN_IF_ERROR(table.Create(path, "memtrace.blocks/1"));
  BlockWalk walk;
  run.events.ForEach([&](const trace::Event& event) {
    walk.Apply(event);
    if (walk.ended() != nullptr) table.Add(RowOf(*walk.ended(), walk.now(), run));
  });
  walk.ForEachLiving([&](const WalkedBlock& block) { table.Add(RowOf(block, std::nullopt, run)); });
  return table.Close();
}

}  // namespace memtrace::interchange
