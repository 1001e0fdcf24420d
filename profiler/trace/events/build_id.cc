// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/events/build_id.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace memtrace::trace {
namespace {

constexpr size_t kMostNotes = 1 << 20;  // limit in bytes: a file of another kind may state any size

template <typename Header>
bool ReadAt(std::ifstream& file, uint64_t offset, Header& header) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&header), sizeof(header)));
}

std::string BuildIdInSegment(std::ifstream& file, const Elf64_Phdr& segment) {
  if (segment.p_type != PT_NOTE || segment.p_filesz > kMostNotes) return "";
  std::vector<char> notes(segment.p_filesz);
  file.seekg(static_cast<std::streamoff>(segment.p_offset));
  if (!file.read(notes.data(), static_cast<std::streamsize>(notes.size()))) return "";
  return BuildIdInNotes(notes.data(), notes.size());
}

}  // namespace

std::string BuildIdInNotes(const char* notes, size_t bytes) {
  constexpr std::string_view kOwner("GNU\0", 4);
  while (bytes >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes, sizeof(note));
    const size_t name_bytes = RoundUp(note.n_namesz, 4);
    const size_t length = sizeof(note) + name_bytes + RoundUp(note.n_descsz, 4);
    if (length > bytes) return "";
    const char* name = notes + sizeof(note);
    if (note.n_type == NT_GNU_BUILD_ID && std::string_view(name, note.n_namesz) == kOwner) {
      std::string id;
      for (size_t i = 0; i < note.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(name[name_bytes + i]);
        id += "0123456789abcdef"[byte >> 4];
        id += "0123456789abcdef"[byte & 15];
      }
      return id;
    }
    notes += length;
    bytes -= length;
  }
  return "";
}

std::string BuildIdOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!ReadAt(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return "";
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!ReadAt(file, header.e_phoff + i * sizeof(segment), segment)) return "";
    if (std::string id = BuildIdInSegment(file, segment); !id.empty()) return id;
  }
  return "";
}

}  // namespace memtrace::trace
