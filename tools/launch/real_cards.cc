// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/real_cards.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstddef>
#include <memory>

namespace memtrace::launch {
namespace {

struct Close {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, Close>;

Library OpenDriver() { return Library(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)); }

bool IsSimulated(const Library& driver) {
  return dlsym(driver.get(), "memtrace_card_count") != nullptr;
}

std::string FileOf(const Library& driver) {
  link_map* map = nullptr;
  return dlinfo(driver.get(), RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

// Calls one of the few functions of the driver that are needed, as cuda.h declares them.
template <typename... Arguments>
int Call(const Library& driver, const char* name, Arguments... arguments) {
  using Function = int(Arguments...);
  auto* const function = reinterpret_cast<Function*>(dlsym(driver.get(), name));
  constexpr int kNotFound = 500;  // CUDA_ERROR_NOT_FOUND
  return function == nullptr ? kNotFound : function(arguments...);
}

std::string ErrorText(const Library& driver, int result) {
  const char* text = nullptr;
  const bool is_known = Call(driver, "cuGetErrorString", result, &text) == 0 && text != nullptr;
  return is_known ? text : "error " + std::to_string(result);
}

// Returns "13.0" for 13000.
std::string VersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

RealCard CardAt(const Library& driver, int index) {
  RealCard card;
  int device = 0;
  if (Call(driver, "cuDeviceGet", &device, index) != 0) return card;
  std::array<char, 128> name{};
  if (Call(driver, "cuDeviceGetName", name.data(), static_cast<int>(name.size()), device) == 0)
    card.name = name.data();
  std::size_t bytes = 0;
  if (Call(driver, "cuDeviceTotalMem_v2", &bytes, device) == 0) card.bytes = bytes;
  return card;
}

void AddCards(const Library& driver, RealDriver& found) {
  int count = 0;
  int result = Call(driver, "cuInit", 0U);
  if (result == 0) result = Call(driver, "cuDeviceGetCount", &count);
  if (result != 0) {
    found.trouble = ErrorText(driver, result);
    return;
  }
  for (int index = 0; index < count; ++index) found.cards.push_back(CardAt(driver, index));
}

RealDriver Ask(const Library& driver) {
  RealDriver found;
  found.file = FileOf(driver);
  found.is_simulated = IsSimulated(driver);
  int version = 0;
  if (Call(driver, "cuDriverGetVersion", &version) == 0) found.cuda = VersionText(version);
  AddCards(driver, found);
  return found;
}

}  // namespace

std::string RealDriverFile() {
  const Library driver = OpenDriver();
  return driver == nullptr || IsSimulated(driver) ? "" : FileOf(driver);
}

RealDriver AskRealDriver() {
  const Library driver = OpenDriver();
  return driver == nullptr || IsSimulated(driver) ? RealDriver() : Ask(driver);
}

RealDriver AskDriver() {
  const Library driver = OpenDriver();
  return driver == nullptr ? RealDriver() : Ask(driver);
}

}  // namespace memtrace::launch
