// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_FRAMES_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_FRAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/events/event.h"

namespace memtrace::analysis {

// True if a library generated the file while the program ran, as torch.compile does for a graph.
bool IsGeneratedFile(std::string_view file);

// True if a frame's file is not the user's: it belongs to an installed library or to Python itself,
// or is generated.
bool IsLibraryFile(std::string_view file);

// Shortens "/venv/lib/python3.11/site-packages/torch/optim/adam.py" to "torch/optim/adam.py", and a
// user's file to its name.
std::string ShortFile(std::string_view file);
std::string ShortFrame(const trace::Frame& frame);  // "train.py:31"

// True for a frame of a library or a program, known by file and offset ("/opt/libfoo.so+0x1a2b").
bool IsNative(const trace::Frame& frame);

// Returns the user's innermost frame; null if there is none. Stacks are kept innermost first.
const trace::Frame* InnermostUserFrame(const std::vector<trace::Frame>& stack);
// Returns NVIDIA's library that the innermost frame lies in and the function of it that was called
// ("cuBLAS, cublasCreate_v2"), or, with a Python frame of the user's, "cuBLAS, at train.py:31".
// Empty if it lies in none.
std::string LibraryCalled(const std::vector<trace::Frame>& stack);
// Returns the library of such a text, "cuBLAS"; empty for any other text.
std::string_view LibraryOfSite(std::string_view site);
// Returns the file of the library, or of the program, in which the frame lies that
// InnermostUserFrame returns: "libfoo.so". Empty if it is a frame of Python, or there is none.
std::string LibraryFile(const std::vector<trace::Frame>& stack);
// Returns the user's innermost frame as ShortFrame does; empty if there is none.
std::string UserLine(const std::vector<trace::Frame>& stack);

// Returns the frame that tells most of a stack without a line of the user's: the innermost frame of
// Python, else torch's operation ("at::_ops::mm"), else the innermost. REQUIRES: the stack is not
// empty.
const trace::Frame& MostInformativeFrame(const std::vector<trace::Frame>& stack);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_FRAMES_H_
