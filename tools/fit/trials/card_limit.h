// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_TRIALS_CARD_LIMIT_H_
#define MEMTRACE_TOOLS_FIT_TRIALS_CARD_LIMIT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace memtrace::fit {

// A size larger than any card's; the simulated card only backs memory that is touched.
inline constexpr uint64_t kNoLimit = uint64_t{1} << 40;

// Returns the cards that `specs` (values of --card) describe, each with `bytes`. Their kinds,
// contexts and what others hold on them stay. Returns kInvalidArgument with a sentence.
absl::StatusOr<std::vector<std::string>> WithBytes(const std::vector<std::string>& specs,
                                                   uint64_t bytes);

// Returns the cards, each reduced by `percent` percent. Errors as above.
absl::StatusOr<std::vector<std::string>> WithMargin(const std::vector<std::string>& specs,
                                                    uint64_t percent);

// Returns a card of the product `name` for each card that `specs` describe. What is stated beside
// the kind of card stays: what others hold on it, its links, the system, and NCCL's memory.
std::vector<std::string> OnProduct(const std::vector<std::string>& specs, std::string_view name);

// Returns the bytes of each card that `specs` describe; a spec that does not parse describes none.
std::vector<uint64_t> BytesOfCards(const std::vector<std::string>& specs);

// Returns what other processes hold of each card.
std::vector<uint64_t> OthersOfCards(const std::vector<std::string>& specs);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_TRIALS_CARD_LIMIT_H_
