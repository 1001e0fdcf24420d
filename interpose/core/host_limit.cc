// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/host_limit.h"

#include <string>

#include "base/environment.h"
#include "base/host_memory.h"
#include "interpose/core/spoken_sentence.h"
#include "profiler/trace/events/amount.h"

namespace memtrace {

Bytes HostLimit() {
  const std::string text(env::Text(env::kHostLimit));
  if (const auto bytes = trace::BytesOf(text); !text.empty() && bytes) return *bytes;
  if (!text.empty())
    PrintSentence(std::string(env::kHostLimit.name()) + "=" + text +
                  " is not an amount such as 64GiB, so half of the host's memory is the limit.");
  return ReadHostMemory().available / 2;
}

}  // namespace memtrace
