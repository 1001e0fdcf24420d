# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Language, warnings and sanitizers of every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# Line numbers and names of functions, not variables: half of the size, a quarter of the compiler's time.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG" CACHE STRING "Flags of the usual build" FORCE)

include(CheckIPOSupported)
check_ipo_supported(RESULT memtrace_ipo OUTPUT reason LANGUAGES CXX)
# See memtrace_optimise.
set(memtrace_optimised -O3 -fno-tree-vectorize -fno-plt)
set(memtrace_once_options)
set(memtrace_test_options)
set(memtrace_test_link_options)
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # Tests look at guarded members while no other thread runs.
  set(memtrace_test_options -Wno-error=thread-safety-analysis)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # A test's own code runs once. The libraries it tests are optimised as always, but not across files once for every test.
  # At -O1, GCC inlines the one of a pair of replaced operators new and delete and not the other, and takes that for a mismatch.
  set(memtrace_test_options -O1 -Wno-mismatched-new-delete)
  # What reads a command line, or makes words of a few rows, runs once a program: a fifth of the compiler's time is saved.
  set(memtrace_once_options -O1)
  set(memtrace_test_link_options -fno-lto -fno-use-linker-plugin)
  if(memtrace_ipo)
    list(APPEND memtrace_optimised -flto=auto -ffat-lto-objects)
  endif()
endif()

add_library(memtrace_options INTERFACE)
target_compile_options(memtrace_options INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -fno-strict-aliasing
  # Whoever only installs (`pip install .`) may have another compiler with warnings of its own.
  $<$<BOOL:${MEMTRACE_BUILD_TESTS}>:-Werror>
  # GCC 12 sees overlaps that are not there in string operations (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # GCC collected its garbage again and again from 128 MiB on: a fifth of the time of a translation unit.
  # Few units reach the 800 MB from which it does so now.
  "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=800000>"
  "$<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>")
target_include_directories(memtrace_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
# A finding ends the program: a test that only printed it would pass.
if(MEMTRACE_SANITIZE)
  target_compile_options(memtrace_options INTERFACE
    -fsanitize=${MEMTRACE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(memtrace_options INTERFACE -fsanitize=${MEMTRACE_SANITIZE})
endif()
if(MEMTRACE_FUZZ)
  target_compile_options(memtrace_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
