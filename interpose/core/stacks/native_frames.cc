// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/stacks/native_frames.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/mutex.h"
#include "profiler/trace/events/build_id.h"

namespace memtrace {
namespace {

struct Collected {
  std::span<recorder::RawFrame> frames;
  const void* caller = nullptr;
  CodeRange outside;
  size_t count = 0;
};

_Unwind_Reason_Code Collect(_Unwind_Context* context, void* user) {
  auto& collected = *static_cast<Collected*>(user);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of code
  const void* address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (address == nullptr || collected.outside.Has(address)) return _URC_END_OF_STACK;
  if (address == collected.caller) collected.count = 0;
  if (collected.count == collected.frames.size()) return _URC_END_OF_STACK;
  collected.frames[collected.count++] = {address, NativeFrames::kInstruction};
  return _URC_NO_REASON;
}

std::string Hex(uintptr_t value) {
  std::array<char, 2 * sizeof(value)> digits{};
  size_t count = 0;
  do {
    digits[count++] = "0123456789abcdef"[value & 15];
    value >>= 4;
  } while (value != 0);
  return {digits.rend() - static_cast<ptrdiff_t>(count), digits.rend()};
}

std::string Demangled(const char* name) {
  int status = -1;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

// For the program itself the loader gives the name with which it was started.
std::string FileOf(const char* name) {
  if (name != nullptr && std::strchr(name, '/') != nullptr) {
    std::array<char, PATH_MAX> path{};
    if (realpath(name, path.data()) != nullptr) return path.data();
    return name;
  }
  std::array<char, PATH_MAX> program{};
  const ssize_t length = readlink("/proc/self/exe", program.data(), program.size() - 1);
  return length > 0 ? std::string(program.data(), static_cast<size_t>(length))
                    : std::string(name != nullptr ? name : "?");
}

struct WantedModule {
  const void* base = nullptr;
  std::string build_id;
};

int FindBuildId(dl_phdr_info* module, size_t /*size*/, void* user) {
  auto& wanted = *static_cast<WantedModule*>(user);
  bool is_it = false;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = module->dlpi_phdr[i];
    // NOLINTNEXTLINE(performance-no-int-to-ptr): where a segment of the module lies
    const auto* segment = reinterpret_cast<const char*>(module->dlpi_addr + header.p_vaddr);
    if (header.p_type == PT_LOAD && header.p_offset == 0) is_it = segment == wanted.base;
    if (header.p_type == PT_NOTE && wanted.build_id.empty())
      wanted.build_id = trace::BuildIdInNotes(segment, header.p_memsz);
  }
  if (is_it) return 1;
  wanted.build_id.clear();
  return 0;
}

}  // namespace

size_t NativeFrames::Walk(const void* caller, std::span<recorder::RawFrame> frames,
                          CodeRange outside) {
  Collected collected{.frames = frames, .caller = caller, .outside = outside};
  _Unwind_Backtrace(Collect, &collected);
  return collected.count;
}

// A return address may already belong to the next function, so the byte before it, in the call, is
// used.
trace::Frame NativeFrames::Symbolize(const recorder::RawFrame& frame) {
  const char* call = static_cast<const char*>(frame.code) - 1;
  Dl_info info{};
  if (dladdr(call, &info) == 0) {
    return {.file = "?+0x" + Hex(reinterpret_cast<uintptr_t>(call)), .function = "", .line = 0};
  }
  const std::string file = FileOf(info.dli_fname);
  NoteModule(file, info.dli_fbase);
  const auto offset = static_cast<uintptr_t>(call - static_cast<const char*>(info.dli_fbase));
  return {.file = file + "+0x" + Hex(offset),
          .function = info.dli_sname != nullptr ? Demangled(info.dli_sname) : "",
          .line = 0};
}

void NativeFrames::NoteModule(const std::string& file, const void* base) {
  {
    const MutexLock lock(mutex_);
    if (!known_modules_.insert(file).second) return;
  }
  WantedModule wanted{.base = base, .build_id = {}};
  dl_iterate_phdr(FindBuildId, &wanted);
  const MutexLock lock(mutex_);
  new_modules_.emplace(file, wanted.build_id);
  has_new_modules_.store(true, std::memory_order_release);
}

std::set<std::pair<std::string, std::string>> NativeFrames::TakeNewModules() {
  const MutexLock lock(mutex_);
  has_new_modules_.store(false, std::memory_order_relaxed);
  return std::exchange(new_modules_, {});
}

}  // namespace memtrace
