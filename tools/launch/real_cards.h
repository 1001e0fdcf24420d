// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_REAL_CARDS_H_
#define MEMTRACE_TOOLS_LAUNCH_REAL_CARDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace memtrace::launch {

// A card of this machine, as the driver tells it.
struct RealCard {
  std::string name;
  uint64_t bytes = 0;
};

// NVIDIA's driver on this machine. Nothing of ours, preloaded by somebody, is meant.
struct RealDriver {
  std::string file;     // of its library; empty if there is none
  std::string cuda;     // the newest CUDA that it serves, as "13.0"
  std::string trouble;  // why it gives no cards, in the driver's words; empty if it gives them
  std::vector<RealCard> cards;
};

// The file of the driver's library that a program without a card of ours would get; empty if there
// is none. Loads it into this process, which starts nothing: a driver begins with cuInit.
std::string RealDriverFile();

// The same, asked for its cards: it is initialised (cuInit), which creates no context and takes no
// memory of a card.
RealDriver AskRealDriver();

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_REAL_CARDS_H_
