// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/call_stacks.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/environment.h"
#include "interpose/core/process.h"
#include "interpose/core/recorded_text/recorded_paths.h"
#include "interpose/core/stacks/mixed_frames.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace {
namespace {

struct WantedStacks {
  bool python = true;             // for the allocator's memory
  bool native = true;             // for memory taken from the driver itself
  bool native_in_python = false;  // also for the allocator's memory
};

const WantedStacks& Wanted() {
  static const WantedStacks kWanted = [] {
    if (env::Is(env::kSource, "0")) return WantedStacks{.python = false, .native = false};
    const std::string_view native = env::Text(env::kNativeStacks);
    return WantedStacks{.native = native != "0", .native_in_python = native == "1"};
  }();
  return kWanted;
}

void RecordNewModules(recorder::Recorder& recorder) {
  NativeFrames& native = Process::Get().frames().native();
  if (!native.has_new_modules()) return;
  for (const auto& [file, build_id] : native.TakeNewModules())
    recorder.program().Annotate(trace::fact::kBuildId.Of(AsRecorded(file)), build_id);
}

trace::StackId MixedStack(recorder::Recorder& recorder, const void* caller) {
  static const MixedFrames kNative(caller);
  std::array<recorder::RawFrame, NativeFrames::kMostFrames> native;
  const size_t inner = kNative.Walk(native);
  PythonFrames& python = Process::Get().frames().python();
  trace::StackId stack = python.Walk([&](std::span<const recorder::RawFrame> outer) {
    std::array<recorder::RawFrame, NativeFrames::kMostFrames + PythonFrames::kMostFrames> all;
    auto* end = std::copy_n(native.begin(), inner, all.begin());
    end = std::copy(outer.begin(), outer.end(), end);
    return recorder.stacks().Intern({all.begin(), end});
  });
  if (stack == 0) stack = recorder.stacks().Intern({native.data(), inner});
  RecordNewModules(recorder);
  return stack;
}

std::string_view NameOfFile(const void* code) {
  Dl_info found;
  if (dladdr(code, &found) == 0 || found.dli_fname == nullptr) return "";
  const std::string_view path = found.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

// Returns the name of the library that called the runtime, or else the driver; "" if none is known.
std::string_view CallingLibrary(const void* caller) {
  std::array<recorder::RawFrame, NativeFrames::kMostFrames> frames;
  const size_t count = NativeFrames::Walk(caller, frames);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view file = NameOfFile(frames[i].code);
    if (!file.starts_with("libcudart")) return file;
  }
  return "";
}

bool IsCalledByTorch(const void* caller) {
  const std::string_view file = CallingLibrary(caller);
  return file.starts_with("libtorch") || file.starts_with("libc10");
}

}  // namespace

bool IsCalledByTorchAllocator(const void* caller) {
  return CallingLibrary(caller).starts_with("libc10_cuda");
}

trace::StackId CallStack(recorder::Recorder& recorder, const void* caller) {
  if (Wanted().native_in_python) return MixedStack(recorder, caller);
  if (!Wanted().python) return 0;
  return Process::Get().frames().python().Walk(
      [&](std::span<const recorder::RawFrame> frames) { return recorder.stacks().Intern(frames); });
}

trace::StackId NativeCallStack(recorder::Recorder& recorder, const void* caller) {
  if (!Wanted().native || caller == nullptr) return 0;
  std::array<recorder::RawFrame, NativeFrames::kMostFrames> frames;
  const size_t count = NativeFrames::Walk(caller, frames);
  const trace::StackId stack = recorder.stacks().Intern({frames.data(), count});
  RecordNewModules(recorder);
  return stack;
}

trace::StackId HostCallStack(recorder::Recorder& recorder, const void* caller) {
  const trace::StackId stack = IsCalledByTorch(caller) ? CallStack(recorder, caller) : 0;
  return stack != 0 ? stack : NativeCallStack(recorder, caller);
}

}  // namespace memtrace
