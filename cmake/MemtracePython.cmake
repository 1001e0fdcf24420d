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

# torch's environment has most headers of CUDA, but not those that only compilers need. `pip install .` brings these as build
# requirements, into a folder of its own that is on the path of that Python (without -I).
execute_process(COMMAND ${MEMTRACE_PYTHON} -c "import sys; print(*filter(None, sys.path), sep=';', end='')"
  OUTPUT_VARIABLE python_path COMMAND_ERROR_IS_FATAL ANY)
list(TRANSFORM python_path APPEND /nvidia/cu13/include)
find_path(MEMTRACE_CUDA_CRT_DIR crt/host_config.h PATHS ${MEMTRACE_CUDA_INCLUDE_DIR} ${python_path} NO_DEFAULT_PATH NO_CACHE)
find_path(MEMTRACE_CUDA_CCCL_DIR cuda/std/version PATHS ${MEMTRACE_CUDA_INCLUDE_DIR} ${python_path} PATH_SUFFIXES cccl
  NO_DEFAULT_PATH NO_CACHE)
if(NOT MEMTRACE_CUDA_CRT_DIR OR NOT MEMTRACE_CUDA_CCCL_DIR)
  message(FATAL_ERROR "the CUDA headers in ${MEMTRACE_SITE_PACKAGES} are not enough for a compiler: install nvidia-cuda-crt and "
    "nvidia-cuda-cccl of torch's CUDA into ${MEMTRACE_PYTHON} and configure again")
endif()
file(STRINGS ${MEMTRACE_TORCH_DIR}/version.py version_line REGEX "^__version__")
string(REGEX REPLACE ".*'([0-9]+)\\.([0-9]+)\\..*" "\\1.\\2" MEMTRACE_TORCH_MINOR "${version_line}")
if(MEMTRACE_TORCH_MINOR VERSION_LESS 2.11)
  message(FATAL_ERROR "torch ${MEMTRACE_TORCH_MINOR} in ${MEMTRACE_SITE_PACKAGES} is too old to build with: the shims "
    "of older ones are built from their headers (MEMTRACE_TORCH_MINORS); install torch 2.11.0 or newer and configure again")
endif()

add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${MEMTRACE_CUDA_INCLUDE_DIR} ${MEMTRACE_CUDA_CRT_DIR} ${MEMTRACE_CUDA_CCCL_DIR})

# The headers of CUDA 12, which no torch of this environment brings: setup/fetch_headers.py fetches them. Without them the
# simulated card stands in for CUDA 13 alone.
set(MEMTRACE_HEADERS_DIR ${PROJECT_SOURCE_DIR}/build/headers CACHE PATH "Where setup/fetch_headers.py has put headers")
set(MEMTRACE_CUDA12_INCLUDE_DIR ${MEMTRACE_HEADERS_DIR}/cuda-12/include CACHE PATH "The headers of CUDA 12")
# Looked at before each build: they may be fetched after this was configured.
file(GLOB cuda12_is_fetched CONFIGURE_DEPENDS ${MEMTRACE_HEADERS_DIR}/cuda-12/fetched.lock)
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
  set(MEMTRACE_SITE_DIR .)
  set(MEMTRACE_PACKAGE_DIR memtrace)
  set(MEMTRACE_PROGRAM_DIR ${SKBUILD_SCRIPTS_DIR})
  set(MEMTRACE_SHARE_DIR ${SKBUILD_DATA_DIR}/share)
else()
  set(MEMTRACE_SITE_DIR ${MEMTRACE_SITE_PACKAGES})
  set(MEMTRACE_PACKAGE_DIR ${MEMTRACE_SITE_PACKAGES}/memtrace)
  set(MEMTRACE_PROGRAM_DIR ${MEMTRACE_SCRIPTS})
  cmake_path(GET MEMTRACE_SCRIPTS PARENT_PATH MEMTRACE_SHARE_DIR)
  string(APPEND MEMTRACE_SHARE_DIR /share)
endif()
