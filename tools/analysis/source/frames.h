// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_FRAMES_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_FRAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/events/event.h"

namespace memtrace::analysis {

// True if a library made the file while the program ran: a graph that torch.compile generated.
bool IsGeneratedFile(std::string_view file);

// True if a frame's file belongs to an installed library or to Python itself, or is generated: if
// it is not the user's.
bool IsLibraryFile(std::string_view file);

// "/venv/lib/python3.11/site-packages/torch/optim/adam.py" -> "torch/optim/adam.py"; a user's file
// -> its name.
std::string ShortFile(std::string_view file);
std::string ShortFrame(const trace::Frame& frame);  // "train.py:31"

// Of a library or a program, known by file and offset ("/opt/libfoo.so+0x1a2b").
bool IsNative(const trace::Frame& frame);

// Innermost first, as stacks are kept. Null if there is none.
const trace::Frame* InnermostUserFrame(const std::vector<trace::Frame>& stack);
// "cuBLAS, cublasCreate_v2": the library of NVIDIA's that the innermost frame lies in and the
// function of it that was called, or with a Python frame of the user's "cuBLAS, at train.py:31".
// Empty if it lies in none.
std::string LibraryCalled(const std::vector<trace::Frame>& stack);
// Returns it as ShortFrame does; empty if there is none.
std::string UserLine(const std::vector<trace::Frame>& stack);

// What tells most of a stack without a line of the user's: the innermost frame of Python, else
// torch's operation ("at::_ops::mm"), else the innermost. REQUIRES: it is not empty.
const trace::Frame& TellingFrame(const std::vector<trace::Frame>& stack);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_FRAMES_H_
