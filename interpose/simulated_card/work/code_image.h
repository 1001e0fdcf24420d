// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_IMAGE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_IMAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memtrace::card {

// What a card has to know of code that a program loads: names and sizes, never instructions.
struct CodeImage {
  struct Parameter {
    std::uint32_t bytes = 0;
  };
  struct Kernel {
    std::string name;
    std::uint64_t shared_bytes = 0;  // static shared memory
    // In order; nothing if the image does not say it.
    std::optional<std::vector<Parameter>> parameters = std::nullopt;
  };
  struct Variable {
    std::string name;
    std::uint64_t bytes = 0;
  };

  // False for a compressed container, whose contents cannot be listed: any name may be in it.
  bool is_listed = true;
  std::vector<Kernel> kernels;
  std::vector<Variable> variables;
};

// Reads the section and symbol names of a cubin (an ELF file for CUDA), the entries of PTX text, or
// recognises a fat binary. Nothing for anything else. The interface of CUDA states no length: a
// cubin says its own, PTX ends with a zero.
std::optional<CodeImage> ReadCodeImage(const void* image);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_IMAGE_H_
