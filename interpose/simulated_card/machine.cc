// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/machine.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

#include "base/environment.h"
#include "interpose/simulated_card/work/code/loaded_code.h"

namespace memtrace::card {
namespace {

// The default passes a parameter of tens of millions of elements, but not a large model's
// embedding.
constexpr std::uint64_t kDefaultCopyLimit = 64ull << 20;

std::atomic<bool> is_made = false;  // the machine of the process

std::unique_ptr<SharedLedger> MakeShared(const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<SharedLedger>(path);
}

Cards MakeCards(const std::vector<CardSpec>& specs, const MachineSettings& settings,
                SharedLedger* shared) {
  Cards cards;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::size_t index = settings.ledger_cards.empty() ? i : settings.ledger_cards[i];
    cards.push_back(std::make_unique<Card>(specs[i], CardSharing(shared, index)));
  }
  return cards;
}

// Returns false, with a sentence, for a text that is not a number of bytes: as 0 it would silently
// drop every copy.
bool ParseCopyLimit(const std::string& text, std::uint64_t* limit, std::string* error) {
  *limit = kDefaultCopyLimit;
  if (text.empty()) return true;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, *limit);
  if (parsed.ec == std::errc() && parsed.ptr == end) return true;
  *error = "'" + text + "' is not a number of bytes; write for example 67108864 for 64 MiB";
  return false;
}

// Reads 0, or a whole number of GiB or MiB. Unset: any amount.
bool ParseHostLimit(std::string_view text, std::uint64_t* limit, std::string* error) {
  if (text.empty() || text == "0") {
    *limit = text.empty() ? ~0ull : 0;
    return true;
  }
  const std::string copy(text);
  const char* const end = copy.data() + copy.size();
  const auto parsed = std::from_chars(copy.data(), end, *limit);
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  const int shift = unit == "GiB" ? 30 : unit == "MiB" ? 20 : 0;
  if (parsed.ec == std::errc() && shift != 0 && *limit < (1ull << 24)) {
    *limit <<= shift;
    return true;
  }
  *error = "'" + copy + "' is not a size; write for example 64GiB, or 0";
  return false;
}

// Prints the reason, which only this place knows: CUDA can only report "no device".
Machine* Refuse(env::Variable variable, const std::string& error) {
  std::fprintf(stderr, "memtrace: %s: %s\n", variable.name(), error.c_str());
  return nullptr;
}

Machine* MakeFromEnvironment() {
  const std::string text(env::Text(env::kCard));
  if (text.empty()) return nullptr;
  std::vector<CardSpec> cards;
  MachineSettings settings;
  std::uint64_t copy_limit = 0;
  std::string error;
  if (!ParseCopyLimit(std::string(env::Text(env::kCardCopyLimit)), &copy_limit, &error))
    return Refuse(env::kCardCopyLimit, error);
  if (!ParseCardSpecs(text, &cards, &error)) return Refuse(env::kCard, error);
  if (!ParseEventTiming(env::Text(env::kCardEvents), &settings.timing, &error))
    return Refuse(env::kCardEvents, error);
  if (!ParsePlannedFailures(env::Text(env::kCardFailures), &settings.failures, &error))
    return Refuse(env::kCardFailures, error);
  if (!ParseHostLimit(env::Text(env::kCardHost), &settings.host_located, &error))
    return Refuse(env::kCardHost, error);
  const char* visible = env::Pointer(env::kCudaVisibleDevices);
  settings.ledger_cards = VisibleIndices(cards.size(), visible);
  settings.host_values = !env::Is(env::kHostValues, "0");
  settings.shared_ledger = env::Text(env::kCardShared);
  cards = VisibleCards(cards, visible);
  return cards.empty() ? nullptr : new Machine(cards, copy_limit, settings);
}

}  // namespace

Machine::Machine(const std::vector<CardSpec>& specs, std::uint64_t copy_limit,
                 const MachineSettings& settings)
    : shared(MakeShared(settings.shared_ledger)),
      cards(MakeCards(specs, settings, shared.get())),
      physical(cards, file),
      known(settings.host_values ? std::make_unique<KnownRanges>() : nullptr),
      space(cards, physical),
      heap(space),
      imported(space, cards),
      copies(space, file, copy_limit, known.get()),
      graph_memory(space, cards),
      contexts(cards),
      graph_execs(graphs),
      progress(settings.timing),
      stream_table(static_cast<int>(cards.size()), progress),
      captures(progress, stream_table, graphs),
      launch_memory(space, physical, captures, faults),
      streams(progress, stream_table, captures, &listening, &launch_memory),
      events(progress, stream_table, captures),
      kernel_writes(known ? std::make_unique<KernelWrites>(space, file, *known) : nullptr),
      kernels(kernel_writes.get()),
      variables(space, ChargeKind::kContext),
      device_variables(variables),
      modules(kernels, variables),
      pools(space, cards),
      uses(progress, stream_table, faults),
      calls(
          [this](std::uint64_t bytes) {
            for (const auto& card : cards) card->TakeOther(bytes);
          },
          listening) {
  calls.Plan(settings.failures);
  physical.SetHostLimit(settings.host_located);
}

void Machine::EndContext(const Context& context) {
  streams.SynchronizeDevice(context.device);
  heap.FreeAllOf(context.id);
  host_memory.FreeAllOf(context.id);
  managed.FreeAllOf(context.id);
}

Machine* Machine::OfProcess() {
  static Machine* machine = [] {
    is_made = true;
    Machine* made = MakeFromEnvironment();
    if (made != nullptr) LoadedCode::OfProcess().PassTo(made->kernels, made->device_variables);
    return made;
  }();
  return machine;
}

bool Machine::IsMade() { return is_made; }

std::vector<CardSpec> VisibleCards(const std::vector<CardSpec>& cards,
                                   const char* visible_devices) {
  std::vector<CardSpec> visible;
  for (const std::size_t index : VisibleIndices(cards.size(), visible_devices))
    visible.push_back(cards[index]);
  return visible;
}

}  // namespace memtrace::card
