# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Shims for torch minors that are not installed here. A shim is loaded into a process that has torch, so it is linked
# with empty libraries that have the names of torch's: the loader finds the real ones by these.
set(header_only_minors ${MEMTRACE_TORCH_MINORS})
if(header_only_minors STREQUAL all)
  file(GLOB header_only_minors RELATIVE ${PROJECT_SOURCE_DIR}/setup/headers ${PROJECT_SOURCE_DIR}/setup/headers/torch-*.lock)
  list(TRANSFORM header_only_minors REPLACE "torch-(.+).lock" "\\1")
endif()
list(REMOVE_ITEM header_only_minors ${MEMTRACE_TORCH_MINOR})

# PyPI's torch is built for CUDA 13 from 2.11 on, and with the C++ library's old strings up to 2.6. Whose headers are
# taken makes no difference to the shim: it calls what is the same in both (tests/interpose/test_shim_symbols.py).
function(memtrace_add_header_only_shim minor)
  string(REPLACE . _ id ${minor})
  set(major 13)
  if(minor VERSION_LESS 2.11)
    set(major 12)
  endif()
  foreach(name torch-${minor} cuda-${major})
    if(NOT EXISTS ${MEMTRACE_HEADERS_DIR}/${name}/include)
      message(FATAL_ERROR "the headers of ${name} are not in ${MEMTRACE_HEADERS_DIR}: run "
        "setup/fetch_headers.py ${MEMTRACE_HEADERS_DIR} ${name}")
    endif()
  endforeach()
  set(headers headers_of_torch_${id})
  add_library(${headers} INTERFACE)
  target_include_directories(${headers} SYSTEM INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/minors/opaque_handles
    ${MEMTRACE_HEADERS_DIR}/torch-${minor}/include ${MEMTRACE_HEADERS_DIR}/cuda-${major}/include)
  # C10_CUDA_NO_CMAKE_CONFIGURE_FILE does without a header that only torch's build for Linux makes.
  target_compile_definitions(${headers} INTERFACE USE_CUDA C10_CUDA_NO_CMAKE_CONFIGURE_FILE)
  if(minor VERSION_LESS 2.7)
    target_compile_definitions(${headers} INTERFACE _GLIBCXX_USE_CXX11_ABI=0)
  endif()
  memtrace_add_shim(memtrace_torch_${id} MINOR ${minor} HEADERS ${headers})
  # What torch does not have is seen when the shim is loaded (make test-matrix). libc10_cuda.so brings the CUDA runtime,
  # of whichever major version that torch was built for.
  memtrace_link_to_process(memtrace_torch_${id} libc10.so libc10_cuda.so libtorch_cpu.so)
endfunction()

foreach(minor IN LISTS header_only_minors)
  memtrace_add_header_only_shim(${minor})
endforeach()
