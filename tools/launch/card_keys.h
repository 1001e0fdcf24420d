// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_CARD_KEYS_H_
#define MEMTRACE_TOOLS_LAUNCH_CARD_KEYS_H_

#include <string>
#include <string_view>
#include <vector>

namespace memtrace::launch {

// Adds ",key=value" to each card of the specifications (card_spec.h), also to each of those joined
// by ';'. Does nothing if `value` is empty.
void AddCardKey(std::string_view key, std::string_view value, std::vector<std::string>* specs);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_CARD_KEYS_H_
