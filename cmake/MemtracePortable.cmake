# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# A portable build runs on other distributions than the one it was made on (docs/design/wheel.md). The sources are compiled as always;
# only the link differs: the C and C++ libraries are stubs of older versions, and all other libraries are static.
#
# memtrace_link_to_process(<target> <library files>): links libraries that the process of <target> has already, by their SONAMEs, which
# are their file names. A file that is not there may be named, too: its place takes an empty library of that SONAME, and names are
# then looked up at load time alone. In a portable build all are empty: torch's libraries also export parts of the C++ library, which
# those of another torch may lack.
function(memtrace_link_to_process target)
  set(folder ${PROJECT_BINARY_DIR}/process)
  file(MAKE_DIRECTORY ${folder})
  foreach(library ${ARGN})
    if(EXISTS ${library} AND NOT MEMTRACE_PORTABLE)
      target_link_libraries(${target} PRIVATE ${library})
      continue()
    endif()
    cmake_path(GET library FILENAME soname)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -shared -nostdlib -Wl,-soname,${soname} -o ${folder}/${soname} -x c /dev/null
      COMMAND_ERROR_IS_FATAL ANY)
    target_link_libraries(${target} PRIVATE ${folder}/${soname})
    target_link_options(${target} PRIVATE -Wl,-z,undefs -Wl,--no-as-needed)
  endforeach()
endfunction()

option(MEMTRACE_PORTABLE "Link what is installed for older systems, without libraries of this one" OFF)
if(NOT MEMTRACE_PORTABLE)
  return()
endif()

set(MEMTRACE_SOURCES ${PROJECT_SOURCE_DIR}/build/sources CACHE PATH "What setup/wheel_sources.sh unpacked")
if(NOT EXISTS ${MEMTRACE_SOURCES}/unpacked)
  message(FATAL_ERROR "no sources in ${MEMTRACE_SOURCES}: run setup/wheel_sources.sh ${MEMTRACE_SOURCES} and configure again")
endif()

set(portable ${CMAKE_CURRENT_LIST_DIR}/portable)
set(stubs ${PROJECT_BINARY_DIR}/stubs)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${portable}/make_stubs.py ${portable}/limits.json
  ${portable}/newer_functions.c ${portable}/program_start.c)
execute_process(COMMAND ${MEMTRACE_PYTHON} -EsB ${portable}/make_stubs.py ${CMAKE_C_COMPILER} ${stubs} ${portable}/limits.json
  COMMAND_ERROR_IS_FATAL ANY)
# -B for the start code of programs, -L for the libraries: both before the compiler's own folders. What comes from archives is
# not seen outside, in programs neither.
add_link_options(-B${stubs}/ -L${stubs} -Wl,--exclude-libs,ALL)

# find_library and find_package then find archives, and for two packages the files beside this one.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(absl_DIR ${portable})
set(simdjson_DIR ${portable})
