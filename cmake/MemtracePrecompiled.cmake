# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Precompiled headers: the standard library, Abseil, GoogleTest, nlohmann/json and CLI11 take half of the time of a
# translation unit. They are read once a set of compiler options. Sources still include what they use: the sanitizers' presets,
# clang-tidy and `check_headers` compile without precompiled headers (docs/design/testing.md).
option(MEMTRACE_PRECOMPILE "Compile with precompiled headers (GCC only)" ON)

set(precompiled_standard
  <algorithm> <array> <atomic> <bit> <cerrno> <charconv> <chrono> <cmath> <condition_variable> <cstddef> <cstdint> <cstdio>
  <cstdlib> <cstring> <deque> <filesystem> <fstream> <functional> <iostream> <iterator> <limits> <map> <memory> <mutex>
  <numeric> <optional> <random> <set> <span> <sstream> <string> <string_view> <system_error> <thread> <tuple> <type_traits>
  <unordered_map> <unordered_set> <utility> <variant> <vector>)
set(precompiled_abseil
  <absl/container/btree_map.h> <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h>
  <absl/status/status.h> <absl/status/statusor.h> <absl/strings/numbers.h> <absl/strings/str_cat.h>
  <absl/strings/str_join.h> <absl/strings/str_split.h>)

set(memtrace_precompiles OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND MEMTRACE_PRECOMPILE AND NOT MEMTRACE_SANITIZE)
  set(memtrace_precompiles ON)
  # GCC 12 does not always know that a string operation of a precompiled header is the standard library's, and then tells
  # of overflows that cannot be.
  target_compile_options(memtrace_options INTERFACE -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
endif()

# memtrace_add_precompiled(<set> HEADERS <headers> [DEPENDS <targets>] [OPTIONS <compiler options>] [PROGRAM]): a set that
# targets of the same compiler options share. PROGRAM if those are programs (-fPIE), else libraries (-fPIC).
function(memtrace_add_precompiled set)
  if(NOT memtrace_precompiles)
    return()
  endif()
  cmake_parse_arguments(arg "PROGRAM" "" "HEADERS;DEPENDS;OPTIONS" ${ARGN})
  set(target memtrace_precompiled_${set})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/precompiled/${set}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() { return 0; }\n")
  if(arg_PROGRAM)
    add_executable(${target} EXCLUDE_FROM_ALL ${source})
  else()
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${source})
  endif()
  target_link_libraries(${target} PRIVATE memtrace_options ${arg_DEPENDS})
  target_compile_options(${target} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
endfunction()

# memtrace_precompile(<target> <set>): compiles <target> with that set; with none if <set> is `none`.
function(memtrace_precompile target)
  set(set library)
  if(ARGC GREATER 1)
    set(set ${ARGV1})
  endif()
  if(TARGET memtrace_precompiled_${set})
    set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM memtrace_precompiled_${set})
  endif()
endfunction()

memtrace_add_precompiled(library HEADERS ${precompiled_standard} ${precompiled_abseil})
memtrace_add_precompiled(tool OPTIONS ${memtrace_once_options} HEADERS ${precompiled_standard} ${precompiled_abseil} <nlohmann/json.hpp>
  DEPENDS nlohmann_json::nlohmann_json)
memtrace_add_precompiled(command OPTIONS ${memtrace_once_options} HEADERS ${precompiled_standard} ${precompiled_abseil} <nlohmann/json.hpp> <CLI/CLI.hpp>
  DEPENDS nlohmann_json::nlohmann_json CLI11::CLI11)
memtrace_add_precompiled(optimised HEADERS ${precompiled_standard} ${precompiled_abseil} OPTIONS ${memtrace_optimised})
if(MEMTRACE_BUILD_TESTS)
  memtrace_add_precompiled(test PROGRAM OPTIONS ${memtrace_test_options}
    HEADERS ${precompiled_standard} ${precompiled_abseil} <gtest/gtest.h> <gmock/gmock.h> <nlohmann/json.hpp>
    DEPENDS GTest::gmock nlohmann_json::nlohmann_json)
endif()
