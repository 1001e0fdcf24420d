// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_SECRETS_H_
#define MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_SECRETS_H_

#include <string>
#include <string_view>

namespace memtrace {

// Returns a command, which is a JSON array of words, with *** in place of each secret: values of
// options and variables whose names end like token, key, secret or password (--api-token=V,
// --hf-token V, API_KEY=V, "password": "V"), passwords in URLs (https://user:V@host) and words that
// begin like well-known tokens (hf_V). A text that is no such array counts as one word.
std::string WithoutSecrets(std::string_view command);

// True if the value of an option, a variable or a field of this name must not be shown.
bool IsSecretName(std::string_view name);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_RECORDED_TEXT_SECRETS_H_
