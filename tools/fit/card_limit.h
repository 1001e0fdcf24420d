// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CARD_LIMIT_H_
#define MEMTRACE_TOOLS_FIT_CARD_LIMIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memtrace::fit {

// Larger than any card; the simulated card backs what is touched alone.
inline constexpr uint64_t kNoLimit = uint64_t{1} << 40;

// The same cards as `specs` (values of --card) describe, each of `bytes`: kinds, contexts and what
// others hold on them stay. kInvalidArgument: a sentence.
absl::StatusOr<std::vector<std::string>> WithBytes(const std::vector<std::string>& specs,
                                                   uint64_t bytes);

// Returns the cards, each reduced by `percent` percent. Errors as above.
absl::StatusOr<std::vector<std::string>> WithMargin(const std::vector<std::string>& specs,
                                                    uint64_t percent);

// Returns the bytes of each card that `specs` describe; a spec that does not parse describes none.
std::vector<uint64_t> BytesOfCards(const std::vector<std::string>& specs);

// Returns what other processes hold of each card.
std::vector<uint64_t> OthersOfCards(const std::vector<std::string>& specs);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CARD_LIMIT_H_
