// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/stacks/mixed_frames.h"

#include <dlfcn.h>

#include <algorithm>

namespace memtrace {
namespace {

CodeRange InterpreterCode() {
  const void* evaluate = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
  return evaluate == nullptr ? CodeRange{} : CodeRange::Of(evaluate);
}

CodeRange OwnCode() { return CodeRange::Of(reinterpret_cast<const void*>(&OwnCode)); }

}  // namespace

MixedFrames::MixedFrames(const void* caller)
    : core_(OwnCode()), shim_(CodeRange::Of(caller)), interpreter_(InterpreterCode()) {}

size_t MixedFrames::Walk(std::array<recorder::RawFrame, NativeFrames::kMostFrames>& frames) const {
  const size_t count = NativeFrames::Walk(nullptr, frames, interpreter_);
  const auto last = frames.begin() + static_cast<ptrdiff_t>(count);
  const auto kept = std::remove_if(frames.begin(), last,
                                   [this](const auto& frame) { return IsOurs(frame.code); });
  return static_cast<size_t>(kept - frames.begin());
}

}  // namespace memtrace
