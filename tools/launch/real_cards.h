// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_REAL_CARDS_H_
#define MEMTRACE_TOOLS_LAUNCH_REAL_CARDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace memtrace::launch {

// A card of this machine, as the driver reports it.
struct RealCard {
  std::string name;
  uint64_t bytes = 0;
};

// NVIDIA's driver on this machine.
struct RealDriver {
  std::string file;     // of its library; empty if there is none
  std::string cuda;     // the newest CUDA that it serves, as "13.0"
  std::string trouble;  // the driver's error if it gives no cards; empty if it gives them
  std::vector<RealCard> cards;
  bool is_simulated = false;  // it is a simulated card's driver instead
};

// Returns the file of the driver's library that a program without a simulated card would get; empty
// if there is none. Loads it into this process, which starts nothing: a driver begins with cuInit.
std::string RealDriverFile();

// Returns the same and the driver's cards. Initializes the driver (cuInit), which creates no
// context and takes no memory of a card.
RealDriver AskRealDriver();

// Returns the same of the driver that a program gets which is started here, also if it is the
// driver of a simulated card (`memtrace run --card`).
RealDriver AskDriver();

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_REAL_CARDS_H_
