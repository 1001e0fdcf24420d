// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/modules.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "interpose/simulated_card/machine.h"

namespace memtrace::card {
namespace {

constexpr const char* kPtx =
    "//\n.version 9.0\n.target sm_80\n.visible .entry add(.param .u64 a)\n{ ret; }\n"
    ".entry scale (\n) { ret; }\n";

// Makes a cubin with one kernel "mul", 4 KiB of static shared memory and a variable "table" of 256
// bytes.
std::vector<char> MakeCubin() {
  std::string names(1, '\0');
  const auto name = [&names](const std::string& text) {
    names += text + '\0';
    return static_cast<Elf64_Word>(names.size() - text.size() - 1);
  };
  Elf64_Shdr sections[5] = {};
  sections[1].sh_name = name(".shstrtab");
  sections[1].sh_type = SHT_STRTAB;
  sections[2].sh_name = name(".text.mul");
  sections[3].sh_name = name(".nv.shared.mul");
  sections[3].sh_type = SHT_NOBITS;
  sections[3].sh_size = 4096;
  sections[4].sh_name = name(".symtab");
  sections[4].sh_type = SHT_SYMTAB;
  sections[4].sh_link = 1;
  Elf64_Sym symbol = {};
  symbol.st_name = name("table");
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  symbol.st_size = 256;
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = 190;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 1;
  sections[1].sh_offset = sizeof(header);
  sections[4].sh_offset = sizeof(header) + names.size();
  sections[4].sh_size = sizeof(symbol);
  header.e_shoff = sections[4].sh_offset + sizeof(symbol);
  std::vector<char> image(header.e_shoff + sizeof(sections));
  std::memcpy(image.data(), &header, sizeof(header));
  std::memcpy(image.data() + sections[1].sh_offset, names.data(), names.size());
  std::memcpy(image.data() + sections[4].sh_offset, &symbol, sizeof(symbol));
  std::memcpy(image.data() + header.e_shoff, sections, sizeof(sections));
  return image;
}

class ModulesTest : public ::testing::Test {
 protected:
  Machine machine_{{CardSpec{.bytes = 1ull << 30, .context_bytes = 0}}, 1ull << 20};
  Modules& modules_ = machine_.modules;
  Module* module_ = nullptr;
  Function* function_ = nullptr;
};

TEST_F(ModulesTest, KernelsOfPtxAreFoundByName) {
  ASSERT_EQ(modules_.Load(kPtx, &module_), Result::kSuccess);
  ASSERT_EQ(modules_.GetFunction(module_, "add", &function_), Result::kSuccess);
  EXPECT_EQ(modules_.GetFunction(module_, "scale", &function_), Result::kSuccess);
  EXPECT_EQ(function_->name, "scale");
  EXPECT_EQ(modules_.GetFunction(module_, "sub", &function_), Result::kNotFound);
}

TEST_F(ModulesTest, CubinSectionsGiveKernelsAndTheirSharedMemory) {
  const std::vector<char> cubin = MakeCubin();
  ASSERT_EQ(modules_.Load(cubin.data(), &module_), Result::kSuccess);
  ASSERT_EQ(modules_.GetFunction(module_, "mul", &function_), Result::kSuccess);
  EXPECT_EQ(function_->shared_bytes, 4096);
  EXPECT_EQ(modules_.GetFunction(module_, "add", &function_), Result::kNotFound);
}

TEST_F(ModulesTest, VariablesHaveMemoryThatIsPartOfTheContext) {
  const std::vector<char> cubin = MakeCubin();
  ASSERT_EQ(modules_.Load(cubin.data(), &module_), Result::kSuccess);
  const Ledger before = machine_.CardAt(0).CurrentLedger();
  Address begin;
  std::uint64_t bytes = 0;
  ASSERT_EQ(modules_.GetVariable(module_, "table", 0, &begin, &bytes), Result::kSuccess);
  EXPECT_EQ(bytes, 256u);
  EXPECT_EQ(machine_.CardAt(0).CurrentLedger(), before);
  int value = 7;
  int back = 0;
  ASSERT_EQ(
      machine_.copies.Copy(begin, Address{reinterpret_cast<std::uintptr_t>(&value)}, sizeof(value)),
      Result::kSuccess);
  ASSERT_EQ(
      machine_.copies.Copy(Address{reinterpret_cast<std::uintptr_t>(&back)}, begin, sizeof(back)),
      Result::kSuccess);
  EXPECT_EQ(back, 7);
}

TEST_F(ModulesTest, InvalidCodeIsRejected) {
  EXPECT_EQ(modules_.Load("Lorem ipsum dolor sit amet", &module_), Result::kInvalidImage);
  EXPECT_EQ(modules_.LoadFile("there/is/none", &module_), Result::kFileNotFound);
}

TEST_F(ModulesTest, UnloadedModuleIsGone) {
  ASSERT_EQ(modules_.Load(kPtx, &module_), Result::kSuccess);
  ASSERT_EQ(modules_.GetFunction(module_, "add", &function_), Result::kSuccess);
  ASSERT_EQ(modules_.FindFunction(function_), function_);
  ASSERT_EQ(modules_.Unload(module_), Result::kSuccess);
  EXPECT_EQ(modules_.FindFunction(function_), nullptr);
  EXPECT_EQ(modules_.GetFunction(module_, "add", &function_), Result::kInvalidHandle);
  EXPECT_EQ(modules_.Unload(module_), Result::kInvalidHandle);
}

}  // namespace
}  // namespace memtrace::card
