// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_CARDS_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_CARDS_REPORT_H_

#include <span>
#include <string>

#include "interpose/simulated_card/spec/card_profile.h"

namespace memtrace::report {

// Lists the cards that --card knows by name, a line each. A letter after each figure names its
// source.
std::string TextCards(std::span<const card::CardProfile> profiles);

// Returns JSON, schema memtrace.cards/1: bytes as integers, each figure with its source and where
// to find that.
std::string JsonCards(std::span<const card::CardProfile> profiles);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_CARDS_REPORT_H_
