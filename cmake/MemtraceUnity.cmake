# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Sources of a target are compiled several at a time, as one translation unit: templates of the standard library, Abseil
# and GoogleTest are then instantiated and optimised once for all of them. It takes less than half of the time.
# clang-tidy and the preset `asan` still see each source alone (docs/design/testing.md).
option(MEMTRACE_UNITY "Compile several sources of a target at a time" ON)

# memtrace_unite(<target>): see above. Names in unnamed namespaces must differ within a unit.
function(memtrace_unite target)
  if(MEMTRACE_UNITY AND NOT MEMTRACE_SANITIZE MATCHES "address")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()
