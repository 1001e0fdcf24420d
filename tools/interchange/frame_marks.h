// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_FRAME_MARKS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_FRAME_MARKS_H_

#include <cstdint>
#include <string_view>

namespace memtrace::interchange {

// The sign that one frame gives of what its program is doing.
enum class FrameMark : uint8_t {
  kNative,          // of C++, and nothing more
  kPython,          // of Python, and nothing more
  kProgram,         // where a program or one of Python's threads begins
  kModuleCall,      // torch.nn.Module.__call__
  kRecomputation,   // what a checkpoint runs again
  kBackward,        // autograd's engine is called, or calls
  kBackwardIfRoot,  // likewise if nothing of Python called it; else a forward of autograd.Function
  kOptimizer,
  kOptimizerState,  // made there
  kZeroGrad,
  kGenerate,
  kNoGrad,
  kModelBuilding,  // a module's parameters are made, moved or loaded
  kKvCache,
  kWorkspace,  // of cuBLAS
};

// Returns the mark of a frame as a snapshot names it: by a path ("??" or a source file for C++) and
// a function, bare or with the scope that defines it ("Module._call_impl").
FrameMark MarkOf(std::string_view file, std::string_view function);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_FRAME_MARKS_H_
