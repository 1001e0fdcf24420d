// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_INSTALLED_CARDS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_INSTALLED_CARDS_H_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "interpose/simulated_card/spec/card_spec.h"

namespace memtrace::card {

// Returns the cards of MEMTRACE_CARD as NVML counts them: CUDA_VISIBLE_DEVICES hides none, and no
// driver is started, so that a program that only asks can still fork. Empty if the text is wrong.
// Safe from any thread.
const std::vector<CardSpec>& InstalledCards();

// Reads them again, because a child of a fork has other variables. Call before any other thread
// asks for them.
void ReadInstalledCardsAgain();

// CUDA's name of the card, and sixteen bytes that are unique among the machine's cards.
std::string NameOf(const CardSpec& spec);
std::array<char, 16> UuidOf(std::size_t card);
// Returns "GPU-6d656d74-7261-6365-2063-617264202041", as nvidia-smi -L and CUDA_VISIBLE_DEVICES
// write it.
std::string UuidTextOf(std::size_t card);

// Returns the cards that CUDA_VISIBLE_DEVICES leaves visible, in its order. Its entries are
// indices, or prefixes of a UUID that match one card, up to the first entry that is neither, as the
// driver reads it. Null: all.
std::vector<std::size_t> VisibleIndices(std::size_t cards, const char* visible_devices);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_INSTALLED_CARDS_H_
