// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_CARD_NAME_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_CARD_NAME_H_

#include <cstdint>
#include <string>

namespace memtrace::report {

// The side of a comparison that a drawing shows; kOnly if nothing is compared.
enum class Side : uint8_t { kOnly, kBefore, kAfter, kBoth };

// Returns "card 0", or "card 0 before" in a comparison.
std::string CardName(int32_t card, Side side);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_CARD_NAME_H_
