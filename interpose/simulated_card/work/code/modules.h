// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_MODULES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_MODULES_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "interpose/simulated_card/memory/runtime_heap.h"
#include "interpose/simulated_card/spec/result.h"
#include "interpose/simulated_card/work/code/code_image.h"
#include "interpose/simulated_card/work/code/kernels.h"

namespace memtrace::card {

// The dynamic shared memory that a kernel may use without a call to cuFuncSetAttribute, on every
// card so far.
inline constexpr int kDefaultDynamicSharedBytes = 48 << 10;

struct Module;

// A kernel of a loaded module; its address is the CUfunction and the CUkernel.
struct Function {
  std::string name;
  Module* module = nullptr;
  int shared_bytes = 0;  // static
  int most_dynamic_shared_bytes = kDefaultDynamicSharedBytes;
  std::optional<std::vector<CodeImage::Parameter>> parameters = std::nullopt;
};

// Code that a program loads while it runs, such as Triton's or NVRTC's. Its address is the CUmodule
// and the CUlibrary. Freed only with the process, because launches read functions without a lock.
struct Module {
  CodeImage image;
  bool loaded = true;
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::map<std::string, Address> variables;
  // Its kernels may use data that the program has put there.
  std::atomic<bool> has_shared_variables = false;
};

// Modules and the variables in them. kInvalidHandle for a handle that is not alive. Safe from any
// thread.
class Modules {
 public:
  // Both arguments must outlive this. `variables` provides the memory of device variables.
  Modules(Kernels& kernels, RuntimeHeap& variables) : kernels_(kernels), heap_(variables) {}
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  // kInvalidImage if it is not an image. REQUIRES: cuModuleLoadData would take `image`.
  Result Load(const void* image, Module** module);
  Result LoadFile(const char* path, Module** module);
  Result Unload(const void* module);

  // kNotFound if the module has no kernel of that name.
  Result GetFunction(const void* module, const char* name, Function** function);
  // Gives all functions that the image lists.
  Result Functions(const void* module, std::vector<Function*>* functions);
  // Gives a variable of the module; the first request makes its memory.
  Result GetVariable(const void* module, const char* name, int device, Address* begin,
                     std::uint64_t* bytes);
  // Returns null if it is not a function of a loaded module.
  Function* FindFunction(const void* function) const;

 private:
  Module* Find(const void* module) const;
  Result FunctionLocked(Module& module, const std::string& name, Function** function);

  Kernels& kernels_;
  RuntimeHeap& heap_;
  mutable Mutex mutex_;
  // mutex_ guards this and the members below.
  std::unordered_map<const void*, std::unique_ptr<Module>> modules_;
  std::unordered_set<const void*> functions_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_MODULES_H_
