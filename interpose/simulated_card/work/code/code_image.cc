// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/code_image.h"

#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/units.h"

namespace memtrace::card {
namespace {

constexpr std::uint16_t kCudaMachine = 190;             // EM_CUDA
constexpr std::uint32_t kFatBinaryMagic = 0xBA55ED50;   // fatbinary_section.h's data
constexpr std::uint32_t kFatWrapperMagic = 0x466243B1;  // FATBINC_MAGIC
constexpr std::string_view kTextPrefix = ".text.";
constexpr std::string_view kSharedPrefix = ".nv.shared.";
constexpr std::string_view kInfoPrefix = ".nv.info.";

// An entry of .nv.info.<kernel>: a format, an attribute, and two bytes that are the value or, for
// kSized, the number of bytes that follow. The numbers are those that cuobjdump prints.
constexpr std::uint8_t kSized = 4;
constexpr std::uint8_t kParameterInfo = 0x17;   // EIATTR_KPARAM_INFO
constexpr std::uint8_t kParameterBytes = 0x19;  // EIATTR_CBANK_PARAM_SIZE
constexpr unsigned kShiftOfParameterBytes = 18;
struct ParameterInfo {
  std::uint32_t index;
  std::uint16_t ordinal;
  std::uint16_t offset;
  std::uint32_t flags;
};

// Reads the parameters in .nv.info.<kernel>. Newer compilers may state them in another way: if a
// kernel has parameter bytes but no parameter, its parameters are unknown.
std::optional<std::vector<CodeImage::Parameter>> ReadParameters(std::string_view info) {
  std::vector<CodeImage::Parameter> parameters;
  bool has_bytes = false;
  while (info.size() >= 4) {
    const auto format = static_cast<std::uint8_t>(info[0]);
    const auto attribute = static_cast<std::uint8_t>(info[1]);
    std::uint16_t value = 0;
    std::memcpy(&value, info.data() + 2, sizeof(value));
    info.remove_prefix(4);
    if (attribute == kParameterBytes) has_bytes = true;
    if (format != kSized) continue;
    if (value > info.size()) return std::nullopt;
    if (attribute == kParameterInfo && value >= sizeof(ParameterInfo)) {
      ParameterInfo read;
      std::memcpy(&read, info.data(), sizeof(read));
      if (read.ordinal >= parameters.size()) parameters.resize(read.ordinal + std::size_t{1});
      parameters[read.ordinal] = {.offset = read.offset,
                                  .bytes = read.flags >> kShiftOfParameterBytes};
    }
    info.remove_prefix(value);
  }
  if (has_bytes && parameters.empty()) return std::nullopt;
  const bool is_whole = std::all_of(parameters.begin(), parameters.end(),
                                    [](const auto& parameter) { return parameter.bytes > 0; });
  return is_whole ? std::optional(std::move(parameters)) : std::nullopt;
}

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
        read.kernels.push_back({.name = std::string(name.substr(kTextPrefix.size()))});
    }
    for (CodeImage::Kernel& kernel : read.kernels) {
      kernel.shared_bytes = SharedBytesOf(kernel.name);
      kernel.parameters = ParametersOf(kernel.name);
    }
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

  std::optional<std::vector<CodeImage::Parameter>> ParametersOf(const std::string& kernel) const {
    const std::string wanted = std::string(kInfoPrefix) + kernel;
    for (std::uint16_t i = 0; i < header_.e_shnum; ++i) {
      const Elf64_Shdr section = Section(i);
      if (NameOf(section) != wanted) continue;
      return ReadParameters({image_ + section.sh_offset, section.sh_size});
    }
    return std::nullopt;
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

std::uint32_t BytesOfPtxType(std::string_view declaration) {
  for (const auto& [type, bytes] :
       {std::pair{"64", 8u}, std::pair{"32", 4u}, std::pair{"16", 2u}, std::pair{"8", 1u}}) {
    for (const char* kind : {".u", ".b", ".s", ".f"}) {
      const std::size_t at = declaration.find(std::string(kind) + type);
      if (at != std::string_view::npos) return bytes;
    }
  }
  return 0;
}

// Reads ".param .align 8 .b8 map[128]"; returns nothing for an unknown form.
std::optional<CodeImage::Parameter> ReadPtxParameter(std::string_view declaration) {
  std::uint32_t bytes = BytesOfPtxType(declaration);
  const std::size_t bracket = declaration.find('[');
  if (bracket != std::string_view::npos)
    bytes *= static_cast<std::uint32_t>(
        std::strtoul(std::string(declaration.substr(bracket + 1)).c_str(), nullptr, 10));
  if (bytes == 0 || declaration.find(".param") == std::string_view::npos) return std::nullopt;
  return CodeImage::Parameter{.bytes = bytes};
}

// Returns the alignment of a parameter: what it states, or its type's. The alignment of what a
// pointer (.ptr) points to is another one.
std::uint32_t AlignmentOfPtx(std::string_view declaration) {
  constexpr std::string_view kAlign = ".align";
  const std::size_t stated = declaration.find(kAlign);
  const bool is_of_target = declaration.find(".ptr") < stated;
  if (stated == std::string_view::npos || is_of_target) return BytesOfPtxType(declaration);
  const std::string number(declaration.substr(stated + kAlign.size()));
  return static_cast<std::uint32_t>(std::strtoul(number.c_str(), nullptr, 10));
}

// Returns where a parameter begins after one that ends at `end`.
std::uint32_t AlignedTo(std::uint32_t alignment, std::uint32_t end) {
  return alignment == 0 ? end : static_cast<std::uint32_t>(RoundUp(end, alignment));
}

// `text` begins after the kernel's name.
std::optional<std::vector<CodeImage::Parameter>> ReadPtxParameters(std::string_view text) {
  std::vector<CodeImage::Parameter> parameters;
  std::uint32_t end = 0;
  const std::size_t open = text.find_first_not_of(" \t\r\n");
  if (open == std::string_view::npos || text[open] != '(') return parameters;
  const std::size_t close = text.find(')', open);
  if (close == std::string_view::npos) return std::nullopt;
  std::string_view list = text.substr(open + 1, close - open - 1);
  while (list.find_first_not_of(" \t\r\n") != std::string_view::npos) {
    const std::size_t comma = list.find(',');
    std::optional<CodeImage::Parameter> read = ReadPtxParameter(list.substr(0, comma));
    if (!read) return std::nullopt;
    read->offset = AlignedTo(AlignmentOfPtx(list.substr(0, comma)), end);
    end = read->offset + read->bytes;
    parameters.push_back(*read);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return parameters;
}

// Reads "name" from `.entry name(` and `.visible .entry name (`.
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
    read.kernels.push_back({.name = std::string(text.substr(at, end - at)),
                            .parameters = ReadPtxParameters(text.substr(end))});
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
