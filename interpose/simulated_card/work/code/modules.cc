// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/modules.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/mutex.h"

namespace memtrace::card {

Module* Modules::Find(const void* module) const {
  const auto found = modules_.find(module);
  return found == modules_.end() || !found->second->loaded ? nullptr : found->second.get();
}

Result Modules::Load(const void* image, Module** module) {
  std::optional<CodeImage> read = ReadCodeImage(image);
  if (!read) return Result::kInvalidImage;
  auto owned = std::make_unique<Module>();
  owned->image = std::move(*read);
  *module = owned.get();
  const MutexLock lock(mutex_);
  modules_.emplace(owned.get(), std::move(owned));
  return Result::kSuccess;
}

Result Modules::LoadFile(const char* path, Module** module) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Result::kFileNotFound;
  std::string contents{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // A file shorter than the headers that are read is not an image.
  constexpr std::size_t kShortest = 64;
  return contents.size() < kShortest ? Result::kInvalidImage : Load(contents.c_str(), module);
}

Result Modules::Unload(const void* handle) {
  const MutexLock lock(mutex_);
  Module* module = Find(handle);
  if (module == nullptr) return Result::kInvalidHandle;
  module->loaded = false;
  for (const auto& [name, function] : module->functions) functions_.erase(function.get());
  for (const auto& [name, begin] : module->variables) heap_.Free(begin);
  return Result::kSuccess;
}

Result Modules::FunctionLocked(Module& module, const std::string& name, Function** function) {
  const auto known = module.functions.find(name);
  if (known != module.functions.end()) {
    *function = known->second.get();
    return Result::kSuccess;
  }
  const auto& kernels = module.image.kernels;
  const auto listed = std::find_if(kernels.begin(), kernels.end(),
                                   [&](const auto& kernel) { return kernel.name == name; });
  if (listed == kernels.end() && module.image.is_listed) return Result::kNotFound;
  auto made = std::make_unique<Function>(Function{.name = name, .module = &module});
  if (listed != kernels.end()) {
    made->shared_bytes = static_cast<int>(listed->shared_bytes);
    made->parameters = listed->parameters;
  }
  *function = made.get();
  functions_.insert(made.get());
  kernels_.Register(made.get(), made->name.c_str());
  module.functions.emplace(name, std::move(made));
  return Result::kSuccess;
}

Result Modules::GetFunction(const void* handle, const char* name, Function** function) {
  const MutexLock lock(mutex_);
  Module* module = Find(handle);
  return module == nullptr ? Result::kInvalidHandle : FunctionLocked(*module, name, function);
}

Result Modules::Functions(const void* handle, std::vector<Function*>* functions) {
  const MutexLock lock(mutex_);
  Module* module = Find(handle);
  if (module == nullptr) return Result::kInvalidHandle;
  for (const CodeImage::Kernel& kernel : module->image.kernels) {
    Function* function = nullptr;
    FunctionLocked(*module, kernel.name, &function);
    functions->push_back(function);
  }
  return Result::kSuccess;
}

Result Modules::GetVariable(const void* handle, const char* name, int device, Address* begin,
                            std::uint64_t* bytes) {
  const MutexLock lock(mutex_);
  Module* module = Find(handle);
  if (module == nullptr) return Result::kInvalidHandle;
  const auto& variables = module->image.variables;
  const auto listed = std::find_if(variables.begin(), variables.end(),
                                   [&](const auto& variable) { return variable.name == name; });
  if (listed == variables.end()) return Result::kNotFound;
  *bytes = listed->bytes;
  const auto known = module->variables.find(name);
  if (known != module->variables.end()) {
    *begin = known->second;
    return Result::kSuccess;
  }
  const Result result = heap_.Allocate(device, listed->bytes, begin);
  if (result != Result::kSuccess) return result;
  module->variables.emplace(name, *begin);
  module->has_shared_variables = true;
  return Result::kSuccess;
}

Function* Modules::FindFunction(const void* function) const {
  const MutexLock lock(mutex_);
  return functions_.contains(function) ? static_cast<Function*>(const_cast<void*>(function))
                                       : nullptr;
}

}  // namespace memtrace::card
