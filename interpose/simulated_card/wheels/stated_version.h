// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WHEELS_STATED_VERSION_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WHEELS_STATED_VERSION_H_

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace memtrace::card {

// Finds the versions of NVIDIA's libraries that this process would have loaded without us, in the
// headers of the wheels beside the loaded torch. One build serves processes with any torch, and
// torch compares these versions with those that it was built with.

// A macro of a header and the weight of its number in the version.
struct VersionPart {
  std::string_view macro;
  std::size_t weight;
};

// Returns the sum of the header's weighted macros; nothing if the file or a macro is missing.
std::optional<std::size_t> StatedVersion(const std::string& header_path,
                                         std::initializer_list<VersionPart> parts);

// Returns the path of a header of NVIDIA's wheels ("nccl/include/nccl.h") beside the torch whose
// library is `torch_library`: site-packages/torch/lib/libtorch_cuda.so.
std::string HeaderBeside(const std::string& torch_library, std::string_view header);

// Does the same for the torch that this process has loaded; "" without one.
std::string HeaderBesideTorch(std::string_view header);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WHEELS_STATED_VERSION_H_
