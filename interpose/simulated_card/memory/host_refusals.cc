// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/host_refusals.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <system_error>

namespace memtrace::card {
namespace {

const char* Consequence(HostNeed need) {
  return need == HostNeed::kContents
             ? "what is copied there is dropped, while sizes and addresses stay exact"
             : "the call fails as out of memory, because of the host and not the card";
}

const char* Advice(HostNeed need, int error) {
  if (error == EFBIG) return "raise the limit on file size (ulimit -f unlimited)";
  if (error == EMFILE || error == ENFILE) return "raise the limit on open files (ulimit -n)";
  if (need == HostNeed::kContents)
    return "free memory of the host, or lower MEMTRACE_CARD_COPY_LIMIT";
  return "raise the limit on addresses (ulimit -v), or let the host overcommit "
         "(vm.overcommit_memory)";
}

}  // namespace

std::string HostRefusal(HostNeed need, std::uint64_t bytes, int error) {
  const std::string what =
      need == HostNeed::kContents ? "contents of the simulated card" : "pinned or managed memory";
  return "the host refuses " + std::to_string(bytes) + " bytes for " + what + " (" +
         std::generic_category().message(error) + "): " + Consequence(need) + "; " +
         Advice(need, error);
}

void WarnHostRefused(HostNeed need, std::uint64_t bytes, int error) {
  static std::array<std::atomic<bool>, 2> said = {};
  if (said[static_cast<std::size_t>(need)].exchange(true)) return;
  std::fprintf(stderr, "memtrace: %s\n", HostRefusal(need, bytes, error).c_str());
}

}  // namespace memtrace::card
