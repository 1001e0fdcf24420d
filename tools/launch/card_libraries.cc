// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/card_libraries.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>

namespace memtrace::launch {
namespace {

const std::vector<std::string> kOfAnyCuda = {"libcuda.so.1", "libcudnn.so.9", "libcusparse.so.12",
                                             "libnvidia-ml.so.1", "libnccl.so.2"};
const std::vector<std::vector<std::string>> kOfOneCuda = {
    {"libcudart.so.12", "libcublasLt.so.12", "libcublas.so.12", "libcusolver.so.11",
     "libcufft.so.11", "libcupti.so.12"},
    {"libcudart.so.13", "libcublasLt.so.13", "libcublas.so.13", "libcusolver.so.12",
     "libcufft.so.12", "libcupti.so.13"}};

// Reads an ELF file by offsets. A read outside the file returns nothing.
class ElfReader {
 public:
  explicit ElfReader(const std::string& path) : file_(path, std::ios::binary) {}

  template <typename Record>
  std::optional<Record> At(std::uint64_t offset) {
    Record record = {};
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(&record), sizeof(record));
    return file_ ? std::optional(record) : std::nullopt;
  }

  std::string TextAt(std::uint64_t offset) {
    std::string text;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    std::getline(file_, text, '\0');
    return text;
  }

 private:
  std::ifstream file_;
};

std::vector<Elf64_Phdr> Segments(ElfReader& file) {
  const auto header = file.At<Elf64_Ehdr>(0);
  const bool is_elf = header && std::equal(header->e_ident, header->e_ident + SELFMAG, ELFMAG) &&
                      header->e_ident[EI_CLASS] == ELFCLASS64;
  std::vector<Elf64_Phdr> segments;
  for (std::uint64_t i = 0; is_elf && i < header->e_phnum; ++i) {
    const auto segment = file.At<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment) segments.push_back(*segment);
  }
  return segments;
}

std::uint64_t OffsetOf(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return address - segment.p_vaddr + segment.p_offset;
  }
  return 0;
}

}  // namespace

std::vector<std::string> NeededLibraries(const std::string& path) {
  ElfReader file(path);
  const std::vector<Elf64_Phdr> segments = Segments(file);
  const auto dynamic = std::find_if(segments.begin(), segments.end(),
                                    [](const Elf64_Phdr& one) { return one.p_type == PT_DYNAMIC; });
  if (dynamic == segments.end()) return {};
  std::vector<std::uint64_t> names;
  std::uint64_t texts = 0;
  for (std::uint64_t at = 0; at < dynamic->p_filesz; at += sizeof(Elf64_Dyn)) {
    const auto entry = file.At<Elf64_Dyn>(dynamic->p_offset + at);
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED) names.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_STRTAB) texts = OffsetOf(segments, entry->d_un.d_ptr);
  }
  std::vector<std::string> needed;
  needed.reserve(names.size());
  for (const std::uint64_t name : names) needed.push_back(file.TextAt(texts + name));
  return needed;
}

std::vector<std::string> CardLibrariesFor(const std::vector<std::string>& needed) {
  std::vector<std::string> libraries = kOfAnyCuda;
  for (const std::vector<std::string>& set : kOfOneCuda) {
    const bool is_needed = std::any_of(set.begin(), set.end(), [&](const std::string& library) {
      return std::find(needed.begin(), needed.end(), library) != needed.end();
    });
    if (is_needed) libraries.insert(libraries.end(), set.begin(), set.end());
  }
  return libraries;
}

}  // namespace memtrace::launch
