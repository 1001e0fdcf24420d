# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# simdjson, compiled here: Debian has no archive of it.
add_library(simdjson STATIC ${MEMTRACE_SOURCES}/simdjson/singleheader/simdjson.cpp)
target_include_directories(simdjson SYSTEM PUBLIC ${MEMTRACE_SOURCES}/simdjson/singleheader)
add_library(simdjson::simdjson ALIAS simdjson)
