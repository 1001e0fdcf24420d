// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_CODE_IMAGE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_CODE_IMAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memtrace::card {

// A card's knowledge of code that a program loads: names and sizes, never instructions.
struct CodeImage {
  struct Parameter {
    std::uint32_t offset = 0;  // among the bytes of all parameters
    std::uint32_t bytes = 0;
  };
  struct Kernel {
    std::string name;
    std::uint64_t shared_bytes = 0;  // static shared memory
    // In order; nothing if the image does not state them.
    std::optional<std::vector<Parameter>> parameters = std::nullopt;
  };
  struct Variable {
    std::string name;
    std::uint64_t bytes = 0;
  };

  // False for a compressed container, whose contents cannot be listed: it may contain any name.
  bool is_listed = true;
  std::vector<Kernel> kernels;
  std::vector<Variable> variables;
};

// Reads the section and symbol names of a cubin (an ELF file for CUDA), the entries of PTX text, or
// recognizes a fat binary. Returns nothing for anything else. CUDA's interface states no length: a
// cubin has its own, PTX ends with a zero.
std::optional<CodeImage> ReadCodeImage(const void* image);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_CODE_IMAGE_H_
