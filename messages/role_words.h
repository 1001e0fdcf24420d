// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_MESSAGES_ROLE_WORDS_H_
#define MEMTRACE_MESSAGES_ROLE_WORDS_H_

#include <array>
#include <string_view>

#include "messages/message.h"

namespace memtrace {

// The words of roles as people read them, in the order of roles.def. MessageOf() translates them.
inline constexpr std::array kRoleWords = {
    Marked("of unknown role"),  Marked("parameters"),  Marked("gradients"),
    Marked("optimizer states"), Marked("activations"), Marked("inputs"),
    Marked("temporaries"),      Marked("workspaces"),  Marked("KV cache"),
    Marked("communication"),    Marked("buffers"),     Marked("checkpoint")};

}  // namespace memtrace

#endif  // MEMTRACE_MESSAGES_ROLE_WORDS_H_
