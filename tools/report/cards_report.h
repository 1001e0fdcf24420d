// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_CARDS_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_CARDS_REPORT_H_

#include <span>
#include <string>

#include "interpose/simulated_card/spec/card_profile.h"

namespace memtrace::report {

// The cards that --card knows by name, a line each; behind every figure one letter says how it is
// known.
std::string TextCards(std::span<const card::CardProfile> profiles);

// Schema memtrace.cards/1: bytes as integers, each figure with its source and where that stands.
std::string JsonCards(std::span<const card::CardProfile> profiles);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_CARDS_REPORT_H_
