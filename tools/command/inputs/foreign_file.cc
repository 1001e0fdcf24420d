// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/foreign_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>

#include "tools/interchange/importers/gunzip.h"

namespace memtrace::command {
namespace {

// The first bytes of a kind of file that people take for a trace.
struct Kind {
  std::string_view magic;
  std::string_view name;
  std::string_view advice;
};
constexpr std::array<Kind, 8> kKinds = {{
    {"version https://git-lfs", "a Git LFS pointer", "; git lfs pull fetches the file itself"},
    {"\x1f\x8b", "a gzip file", "; unpack it first"},
    {"\x28\xb5\x2f\xfd", "a zstd file", "; unpack it first"},
    {"PK", "a zip file, such as torch.save writes", ""},
    {"\x7f"
     "ELF",
     "a program or a library", ""},
    {"SQLite format 3", "an SQLite database", ""},
    {"PAR1", "a Parquet file", ""},
    {"{", "JSON", ""},
}};

constexpr std::string_view kImport = "; memtrace import converts it into a trace";

const Kind* KindOf(std::string_view bytes) {
  const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(), [bytes](const Kind& each) {
    return bytes.starts_with(each.magic);
  });
  return kind == kKinds.end() ? nullptr : kind;
}

bool IsText(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte >= 0x20 || byte == '\n' || byte == '\r' || byte == '\t';
  });
}

bool IsRmmLog(std::string_view bytes) { return bytes.starts_with("Thread,Time,Action,Pointer"); }

// True if the bytes have the keys that a file of torch.profiler begins with, packed or not.
bool IsProfile(std::string_view bytes) {
  if (interchange::IsGzip(bytes)) {
    const auto unpacked = interchange::Gunzip(bytes, 1 << 20);
    return unpacked.ok() && IsProfile(unpacked->bytes);
  }
  if (!bytes.starts_with('{') && !bytes.starts_with('[')) return false;
  constexpr std::array<std::string_view, 4> kKeys = {"\"traceEvents\"", "\"schemaVersion\"",
                                                     "\"deviceProperties\"", "\"ph\""};
  return std::any_of(kKeys.begin(), kKeys.end(), [bytes](std::string_view key) {
    return bytes.find(key) != std::string_view::npos;
  });
}

}  // namespace

std::string FirstBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(512, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

std::optional<std::string> RecogniseFileKind(std::string_view bytes) {
  if (IsProfile(bytes)) return "a profile of torch.profiler";
  if (IsRmmLog(bytes)) return "an RMM log";
  if (const Kind* kind = KindOf(bytes)) return std::string(kind->name);
  if (IsText(bytes)) return "text";
  return std::nullopt;
}

std::string AdviceOn(std::string_view bytes) {
  if (IsProfile(bytes) || IsRmmLog(bytes)) return std::string(kImport);
  const Kind* kind = KindOf(bytes);
  return kind == nullptr ? "" : std::string(kind->advice);
}

}  // namespace memtrace::command
