// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/code_image.h"

#include <elf.h>

#include <cstring>
#include <string_view>

namespace memtrace::card {
namespace {

constexpr std::uint16_t kCudaMachine = 190;             // EM_CUDA
constexpr std::uint32_t kFatBinaryMagic = 0xBA55ED50;   // fatbinary_section.h's data
constexpr std::uint32_t kFatWrapperMagic = 0x466243B1;  // FATBINC_MAGIC
constexpr std::string_view kTextPrefix = ".text.";
constexpr std::string_view kSharedPrefix = ".nv.shared.";

class Cubin {
 public:
  explicit Cubin(const char* image) : image_(image) {
    std::memcpy(&header_, image, sizeof(header_));
  }

  CodeImage Read() const {
    CodeImage read;
    for (std::uint16_t i = 0; i < header_.e_shnum; ++i) {
      const std::string_view name = NameOf(Section(i));
      if (name.substr(0, kTextPrefix.size()) == kTextPrefix)
        read.kernels.push_back({std::string(name.substr(kTextPrefix.size())), 0});
    }
    for (CodeImage::Kernel& kernel : read.kernels) kernel.shared_bytes = SharedBytesOf(kernel.name);
    for (std::uint16_t i = 0; i < header_.e_shnum; ++i) {
      if (Section(i).sh_type == SHT_SYMTAB) AddVariables(Section(i), &read);
    }
    return read;
  }

 private:
  Elf64_Shdr Section(std::uint16_t index) const {
    Elf64_Shdr section;
    std::memcpy(&section, image_ + header_.e_shoff + std::uint64_t{index} * header_.e_shentsize,
                sizeof(section));
    return section;
  }

  std::string_view NameOf(const Elf64_Shdr& section) const {
    return image_ + Section(header_.e_shstrndx).sh_offset + section.sh_name;
  }

  std::uint64_t SharedBytesOf(const std::string& kernel) const {
    const std::string wanted = std::string(kSharedPrefix) + kernel;
    for (std::uint16_t i = 0; i < header_.e_shnum; ++i) {
      if (NameOf(Section(i)) == wanted) return Section(i).sh_size;
    }
    return 0;
  }

  void AddVariables(const Elf64_Shdr& symbols, CodeImage* read) const {
    const char* names = image_ + Section(static_cast<std::uint16_t>(symbols.sh_link)).sh_offset;
    for (std::uint64_t at = 0; at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, image_ + symbols.sh_offset + at, sizeof(symbol));
      if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size > 0)
        read->variables.push_back({names + symbol.st_name, symbol.st_size});
    }
  }

  const char* image_;
  Elf64_Ehdr header_;
};

// "name" of `.entry name(` and of `.visible .entry name (`.
CodeImage ReadPtx(std::string_view text) {
  constexpr std::string_view kEntry = ".entry";
  constexpr std::string_view kEndOfName = "( \t\r\n{";
  CodeImage read;
  for (std::size_t at = text.find(kEntry); at != std::string_view::npos;
       at = text.find(kEntry, at)) {
    at = text.find_first_not_of(" \t\r\n", at + kEntry.size());
    if (at == std::string_view::npos) break;
    const std::size_t end = text.find_first_of(kEndOfName, at);
    if (end == std::string_view::npos) break;
    read.kernels.push_back({std::string(text.substr(at, end - at)), 0});
    at = end;
  }
  return read;
}

CodeImage UnlistedCode() {
  CodeImage image;
  image.is_listed = false;
  return image;
}

bool LooksLikePtx(const char* text) {
  return std::strncmp(text, "//", 2) == 0 || std::strncmp(text, ".version", 8) == 0 ||
         *text == '\n';
}

}  // namespace

std::optional<CodeImage> ReadCodeImage(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) == 0) {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes, sizeof(header));
    if (header.e_machine != kCudaMachine || header.e_ident[EI_CLASS] != ELFCLASS64)
      return std::nullopt;
    return Cubin(bytes).Read();
  }
  std::uint32_t magic = 0;
  std::memcpy(&magic, bytes, sizeof(magic));
  if (magic == kFatBinaryMagic || magic == kFatWrapperMagic) return UnlistedCode();
  if (LooksLikePtx(bytes)) return ReadPtx(bytes);
  return std::nullopt;
}

}  // namespace memtrace::card
