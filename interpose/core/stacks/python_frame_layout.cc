// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/stacks/python_frame_layout.h"

#include <string>

namespace memtrace {
namespace {

// Computed by offsetof() with the headers of 3.11.2, 3.11.7, 3.12.1 and 3.13.0 on x86-64; the same
// on every 64-bit Linux. tests/interpose/core/test_python_frames.py checks each against its
// interpreter where that is installed.
constexpr PythonFrameLayout kLayouts[] = {
    {.minor = 11,
     .thread_frame = 56,
     .has_cframe = true,
     .cframe_frame = 8,
     .code = 32,
     .previous = 48,
     .instruction = 56,
     .owner = 69,
     .first_instruction = 184,
     .first_traceable = 168},
    {.minor = 12,
     .thread_frame = 56,
     .has_cframe = true,
     .cframe_frame = 0,
     .code = 0,
     .previous = 8,
     .instruction = 56,
     .owner = 70,
     .first_instruction = 192,
     .first_traceable = 176},
    {.minor = 13,
     .thread_frame = 72,
     .has_cframe = false,
     .cframe_frame = 0,
     .code = 0,
     .previous = 8,
     .instruction = 56,
     .owner = 70,
     .first_instruction = 200,
     .first_traceable = 184},
};

}  // namespace

const PythonFrameLayout* FindPythonFrameLayout(std::string_view version) {
  if (version.find("free-threading") != std::string_view::npos) return nullptr;
  for (const PythonFrameLayout& layout : kLayouts) {
    if (version.starts_with("3." + std::to_string(layout.minor) + ".")) return &layout;
  }
  return nullptr;
}

}  // namespace memtrace
