# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Which Python memtrace is built for, where its torch and CUDA headers are, and where things are installed.
# The interpreter is asked with -I: an isolated build (`pip install .`) hides the environment that holds torch.
if(NOT MEMTRACE_PYTHON)
  if(Python_EXECUTABLE)
    set(MEMTRACE_PYTHON ${Python_EXECUTABLE})
  elseif(EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
    set(MEMTRACE_PYTHON ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  else()
    find_program(MEMTRACE_PYTHON python3 REQUIRED)
  endif()
endif()
set(MEMTRACE_PYTHON ${MEMTRACE_PYTHON} CACHE FILEPATH "The Python whose torch memtrace is built for")

execute_process(COMMAND ${MEMTRACE_PYTHON} -I -c "import sysconfig; print(sysconfig.get_path('purelib'), end='')"
  OUTPUT_VARIABLE MEMTRACE_SITE_PACKAGES COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${MEMTRACE_PYTHON} -I -c "import sysconfig; print(sysconfig.get_path('scripts'), end='')"
  OUTPUT_VARIABLE MEMTRACE_SCRIPTS COMMAND_ERROR_IS_FATAL ANY)

set(MEMTRACE_TORCH_DIR ${MEMTRACE_SITE_PACKAGES}/torch)
set(MEMTRACE_CUDA_INCLUDE_DIR ${MEMTRACE_SITE_PACKAGES}/nvidia/cu13/include)
if(NOT EXISTS ${MEMTRACE_TORCH_DIR}/version.py OR NOT EXISTS ${MEMTRACE_CUDA_INCLUDE_DIR}/cuda.h)
  message(FATAL_ERROR "no torch with CUDA 13 headers in ${MEMTRACE_SITE_PACKAGES}: run setup/setup.sh, or install "
    "torch, nvidia-cuda-runtime, nvidia-cuda-crt and nvidia-cuda-cccl into ${MEMTRACE_PYTHON} and configure again")
endif()
file(STRINGS ${MEMTRACE_TORCH_DIR}/version.py version_line REGEX "^__version__")
string(REGEX REPLACE ".*'([0-9]+)\\.([0-9]+)\\..*" "\\1.\\2" MEMTRACE_TORCH_MINOR "${version_line}")
if(MEMTRACE_TORCH_MINOR VERSION_LESS 2.11)
  message(FATAL_ERROR "torch ${MEMTRACE_TORCH_MINOR} in ${MEMTRACE_SITE_PACKAGES} is too old: memtrace is built for "
    "2.11 and newer; install torch 2.11.0 or 2.15.0 and configure again")
endif()

add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${MEMTRACE_CUDA_INCLUDE_DIR} ${MEMTRACE_CUDA_INCLUDE_DIR}/cccl)

# The headers of CUDA 12, which no torch of this environment brings: setup/fetch_headers.py fetches them. Without them the
# simulated card stands in for CUDA 13 alone.
set(MEMTRACE_HEADERS_DIR ${PROJECT_SOURCE_DIR}/build/headers CACHE PATH "Where setup/fetch_headers.py has put headers")
set(MEMTRACE_CUDA12_INCLUDE_DIR ${MEMTRACE_HEADERS_DIR}/cuda-12/include CACHE PATH "The headers of CUDA 12")
if(EXISTS ${MEMTRACE_CUDA12_INCLUDE_DIR}/cuda_runtime_api.h)
  add_library(cuda12_headers INTERFACE)
  target_include_directories(cuda12_headers SYSTEM INTERFACE
    ${MEMTRACE_CUDA12_INCLUDE_DIR} ${MEMTRACE_CUDA12_INCLUDE_DIR}/cccl)
else()
  message(STATUS "no headers of CUDA 12 in ${MEMTRACE_CUDA12_INCLUDE_DIR}: the simulated card is built for CUDA 13 alone")
endif()

# torch depends on cuDNN's wheel, which carries its headers, and on NCCL's.
add_library(cudnn_headers INTERFACE)
target_include_directories(cudnn_headers SYSTEM INTERFACE ${MEMTRACE_SITE_PACKAGES}/nvidia/cudnn/include)
add_library(nccl_headers INTERFACE)
target_include_directories(nccl_headers SYSTEM INTERFACE ${MEMTRACE_SITE_PACKAGES}/nvidia/nccl/include)

# scikit-build-core (a wheel) sets SKBUILD and its own folders; otherwise straight into the environment.
if(SKBUILD)
  set(MEMTRACE_PACKAGE_DIR memtrace)
  set(MEMTRACE_PROGRAM_DIR ${SKBUILD_SCRIPTS_DIR})
  set(MEMTRACE_SHARE_DIR ${SKBUILD_DATA_DIR}/share)
else()
  set(MEMTRACE_PACKAGE_DIR ${MEMTRACE_SITE_PACKAGES}/memtrace)
  set(MEMTRACE_PROGRAM_DIR ${MEMTRACE_SCRIPTS})
  cmake_path(GET MEMTRACE_SCRIPTS PARENT_PATH MEMTRACE_SHARE_DIR)
  string(APPEND MEMTRACE_SHARE_DIR /share)
endif()
