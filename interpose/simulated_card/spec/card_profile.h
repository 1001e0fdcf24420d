// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_CARD_PROFILE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_CARD_PROFILE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "interpose/simulated_card/interface/card_link.h"
#include "interpose/simulated_card/interface/card_times.h"

namespace memtrace::card {

// The source of a profile's figure: the maker's data sheet, a reading on a real card, or an
// unchecked guess.
enum class FigureSource { kDatasheet, kMeasured, kAssumed };

struct FigureOrigin {
  FigureSource source;
  std::string_view from;  // the document, the reading or the guess's reason
};

// A card that exists on the market. The data is in profiles/*.json and compiled in, so that a
// process that loads the card reads no file.
struct CardProfile {
  std::string_view name;         // lower case, as on the command line
  std::string_view device_name;  // as cudaDeviceProp::name spells it
  std::uint64_t bytes;           // cudaMemGetInfo's total
  FigureOrigin bytes_origin;
  std::uint64_t context_bytes;
  FigureOrigin context_origin;
  int compute_capability_major;
  int compute_capability_minor;
  FigureOrigin compute_capability_origin;
  int multiprocessors;
  FigureOrigin multiprocessors_origin;
  CardLink link;  // between cards of a machine that has several
  FigureOrigin link_origin;
  int nccl_channels;  // of a communicator of several such cards
  FigureOrigin nccl_channels_origin;
  // Measured, or those of the measured card in proportion to the data sheets' rates.
  struct memtrace_card_times times = {};
  FigureOrigin times_origin = {};
};

// Sorted by name.
std::span<const CardProfile> CardProfiles();

// Returns null if there is none of that name. Case does not matter.
const CardProfile* FindCardProfile(std::string_view name);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_CARD_PROFILE_H_
