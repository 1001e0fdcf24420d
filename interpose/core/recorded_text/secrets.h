// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_SECRETS_H_
#define MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_SECRETS_H_

#include <string>
#include <string_view>

namespace memtrace {

// Returns a command, a JSON array of words, with *** in place of each value that its name says to
// be secret: of options and variables whose names end like token, key, secret or password
// (--api-token=V, --hf-token V, API_KEY=V, "password": "V"), of passwords in URLs
// (https://user:V@host) and of words that begin as well-known tokens do (hf_V). A text that is no
// such array is taken for one word.
std::string WithoutSecrets(std::string_view command);

// True if the value of an option, a variable or a field of this name is not to be shown.
bool IsSecretName(std::string_view name);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_SECRETS_H_
