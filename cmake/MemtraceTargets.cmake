# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# One line a target. Every header named in a target can also be compiled alone, so that none leans on its includer.

# What is installed, and nothing else: all that `make demo` builds.
add_custom_target(product)

# What depends on the torch and the CUDA that are installed: the package, and the tests labelled torch. With the
# newest torch (docs/design/testing.md) only this is built.
add_custom_target(torch_dependent)
add_dependencies(torch_dependent product)

# A third of all translation units: for `make test-all`.
add_custom_target(check_headers)

# memtrace_check_headers(<target> <header>...): one translation unit a header, built by check_headers.
function(memtrace_check_headers target)
  set(units)
  foreach(header ${ARGN})
    string(MAKE_C_IDENTIFIER ${header} name)
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cc)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${path}\"  // IWYU pragma: keep\n")
    list(APPEND units ${unit})
  endforeach()
  if(units)
    add_library(${target}_headers OBJECT EXCLUDE_FROM_ALL ${units})
    add_dependencies(check_headers ${target}_headers)
    target_link_libraries(${target}_headers PRIVATE $<TARGET_PROPERTY:${target},LINK_LIBRARIES>
      $<TARGET_PROPERTY:${target},INTERFACE_LINK_LIBRARIES>)
    target_compile_options(${target}_headers PRIVATE -O0 -g0)
  endif()
endfunction()

# memtrace_add_library(<target> SOURCES <files> [DEPENDS <targets>] [PRECOMPILED <set>]): a static library. <set> is one of
# MemtracePrecompiled.cmake; `library` if it is not named.
function(memtrace_add_library target)
  cmake_parse_arguments(arg "" "PRECOMPILED" "SOURCES;DEPENDS" ${ARGN})
  add_library(${target} STATIC ${arg_SOURCES})
  target_link_libraries(${target} PUBLIC memtrace_options ${arg_DEPENDS})
  memtrace_precompile(${target} ${arg_PRECOMPILED})
  memtrace_unite(${target})
  set(headers ${arg_SOURCES})
  list(FILTER headers INCLUDE REGEX "\\.h$")
  memtrace_check_headers(${target} ${headers})
endfunction()

# memtrace_add_shared(<target> OUTPUT <name> FOLDER <in the package> SOURCES <files> [DEPENDS <targets>]
#   [EXPORTS <version script>] [PRECOMPILED <set>]):
# a library that is loaded into someone else's process. It exports what its version script names (by default
# memtrace_*): templates of std and Abseil, weak in every library, must not meet those of the program. It is linked
# as it will be installed, so that the tests load what a user gets.
function(memtrace_add_shared target)
  cmake_parse_arguments(arg "" "OUTPUT;FOLDER;EXPORTS;PRECOMPILED" "SOURCES;DEPENDS" ${ARGN})
  if(NOT arg_EXPORTS)
    set(arg_EXPORTS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  endif()
  add_library(${target} SHARED ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE memtrace_options ${arg_DEPENDS})
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script,${arg_EXPORTS})
  if(NOT MEMTRACE_SANITIZE)  # clang keeps the sanitizer's run time in the program alone
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_OUTPUT} LINK_DEPENDS ${arg_EXPORTS}
    BUILD_WITH_INSTALL_RPATH ON
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/package/${arg_FOLDER})
  install(TARGETS ${target} LIBRARY DESTINATION ${MEMTRACE_PACKAGE_DIR}/${arg_FOLDER} COMPONENT memtrace)
  add_dependencies(product ${target})
  memtrace_precompile(${target} ${arg_PRECOMPILED})
  memtrace_unite(${target})
endfunction()

# memtrace_install_debug(<target> <folder>): strips what was installed of <target> into <folder>. The debug information goes
# beside it, into `.debug/`, where gdb and perf look for it.
function(memtrace_install_debug target folder)
  if(SKBUILD OR MEMTRACE_SANITIZE OR NOT CMAKE_OBJCOPY)
    return()
  endif()
  set(file "$<TARGET_FILE_NAME:${target}>")
  install(CODE "
    set(program \"\$ENV{DESTDIR}${folder}/${file}\")
    set(debug \"\$ENV{DESTDIR}${folder}/.debug/${file}.debug\")
    file(MAKE_DIRECTORY \"\$ENV{DESTDIR}${folder}/.debug\")
    execute_process(COMMAND ${CMAKE_OBJCOPY} --only-keep-debug \"$<TARGET_FILE:${target}>\" \"\${debug}\" COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${CMAKE_OBJCOPY} --strip-all --remove-section=.gnu_debuglink \"--add-gnu-debuglink=\${debug}\" \"\${program}\" COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT memtrace)
endfunction()

# What the tests labelled `unit` need, and nothing else: `cmake --build --preset asan --target unit_tests`.
add_custom_target(unit_tests)

# Everything that `make test` runs: the product and the tests, without benchmarks and fuzzers.
add_custom_target(tests)
add_dependencies(tests product unit_tests torch_dependent)

# For `make bench` and `make test-all`, which also runs each benchmark for a moment so that none rots.
add_custom_target(benchmarks)

# memtrace_add_test(<target> SOURCES <files> [DEPENDS <targets>] [LABELS ...]): a GoogleTest program, at most 5 minutes.
function(memtrace_add_test target)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE memtrace_options ${arg_DEPENDS} GTest::gmock GTest::gtest_main)
  target_compile_options(${target} PRIVATE ${memtrace_test_options})
  target_link_options(${target} PRIVATE ${memtrace_test_link_options})
  memtrace_precompile(${target} test)
  memtrace_unite(${target})
  add_test(NAME ${target} COMMAND ${target} --gtest_brief=1)
  add_dependencies(unit_tests ${target})
  # The tests expect English, whatever the locale is.
  set_tests_properties(${target} PROPERTIES TIMEOUT 300 LABELS "unit;${arg_LABELS}" ENVIRONMENT_MODIFICATION "MEMTRACE_LANG=set:en")
  if(torch IN_LIST arg_LABELS)
    add_dependencies(torch_dependent ${target})
  endif()
endfunction()

# memtrace_add_python_test(<name> <file> [WITH_SLOW] [LABELS ...] [TIMEOUT s] [PROCESSES n]): a pytest file, run under the
# guard (tests/support/guard.py) that limits time, memory and the number of processes. WITH_SLOW: what the file marks
# `pytest.mark.slow` is a test of its own, <name>_slow, which is labelled `slow`.
function(memtrace_add_python_test name file)
  cmake_parse_arguments(arg "WITH_SLOW" "TIMEOUT;PROCESSES" "LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_PROCESSES)
    set(arg_PROCESSES 40)
  endif()
  set(guarded ${MEMTRACE_PYTHON} ${PROJECT_SOURCE_DIR}/tests/support/guard.py --seconds ${arg_TIMEOUT}
    --processes ${arg_PROCESSES} --memory-gib 16 -- ${MEMTRACE_PYTHON} -m pytest -q -rs -p no:cacheprovider
    --durations=8 --durations-min=2 ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  math(EXPR outer "${arg_TIMEOUT} + 30")
  # Those with the longest limits start first, so that no core is idle at the end.
  set(properties TIMEOUT ${outer} COST ${arg_TIMEOUT} ENVIRONMENT "MEMTRACE_BUILD=${PROJECT_BINARY_DIR}")
  if(arg_WITH_SLOW)
    add_test(NAME ${name} COMMAND ${guarded} -m "not slow")
    add_test(NAME ${name}_slow COMMAND ${guarded} -m slow)
    set_tests_properties(${name}_slow PROPERTIES ${properties} LABELS "python;slow;${arg_LABELS}")
  else()
    add_test(NAME ${name} COMMAND ${guarded})
  endif()
  set_tests_properties(${name} PROPERTIES ${properties} LABELS "python;${arg_LABELS}")
endfunction()

# memtrace_add_node_test(<name> <files> [TOGETHER] [LABELS ...] [TIMEOUT s] [PROCESSES n]): files of TypeScript, which node's
# own runner takes as they are, under the same guard. Threads do not count as processes. TOGETHER: one process for all files.
function(memtrace_add_node_test name)
  cmake_parse_arguments(arg "TOGETHER" "TIMEOUT;PROCESSES" "LABELS" ${ARGN})
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name} has no files")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_PROCESSES)
    set(arg_PROCESSES 10)
  endif()
  set(separate --test-concurrency=1)
  if(arg_TOGETHER)
    set(separate --test-isolation=none)
  endif()
  add_test(NAME ${name} COMMAND ${MEMTRACE_PYTHON} ${PROJECT_SOURCE_DIR}/tests/support/guard.py
    --seconds ${arg_TIMEOUT} --processes ${arg_PROCESSES} --memory-gib 16 --
    ${MEMTRACE_NODE} --test --test-reporter=spec ${separate} ${arg_UNPARSED_ARGUMENTS})
  math(EXPR outer "${arg_TIMEOUT} + 30")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${outer} COST ${arg_TIMEOUT} LABELS "node;${arg_LABELS}"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} ENVIRONMENT "MEMTRACE_BUILD=${PROJECT_BINARY_DIR}")
endfunction()

# memtrace_add_benchmark(<target> SOURCES <files> [DEPENDS <targets>] [SMOKE <regex>]): a Google Benchmark program; also a
# smoke test of those that the expression names (all), so that it never rots.
function(memtrace_add_benchmark target)
  cmake_parse_arguments(arg "" "SMOKE" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE memtrace_options ${arg_DEPENDS} benchmark::benchmark benchmark::benchmark_main)
  add_dependencies(benchmarks ${target})
  add_test(NAME ${target}_smoke COMMAND ${target} --benchmark_min_time=0.001 --benchmark_filter=${arg_SMOKE})
  set_tests_properties(${target}_smoke PROPERTIES TIMEOUT 300 LABELS "slow;benchmark")
endfunction()

# memtrace_optimise(<target> [WITHIN_FILES]): for what every allocation of a program passes. There it is calls that
# cost, hence the optimisation across files, and numbers that are written one by one and read as a vector, for which the
# processor waits until they have left it, hence none of those. GCC does the same where tests and benchmarks link such a
# target. WITHIN_FILES, not across them: for a library that must share variables of inline functions with others of the
# process (torch's settings). Across files GCC takes them for its own alone, whatever the version script says.
function(memtrace_optimise target)
  cmake_parse_arguments(arg "WITHIN_FILES" "" "" ${ARGN})
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU OR MEMTRACE_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL Debug)
    return()
  endif()
  if(arg_WITHIN_FILES OR NOT memtrace_ipo)
    target_compile_options(${target} PRIVATE -O3 -fno-tree-vectorize -fno-plt)
    return()
  endif()
  target_compile_options(${target} PRIVATE ${memtrace_optimised})
  memtrace_precompile(${target} optimised)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL SHARED_LIBRARY)
    target_link_options(${target} PRIVATE -O3 -fno-tree-vectorize -flto=auto)
  endif()
endfunction()
