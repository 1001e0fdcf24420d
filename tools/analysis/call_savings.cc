// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/call_savings.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"
#include "tools/analysis/frame_rules.h"
#include "tools/analysis/frames.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;

// Room that is left where the rest of what failed is not known (Saving::percent_that_fits). A whole
// model is loaded; a pass may have much before it.
constexpr uint64_t kPercentOfLoaded = 80;
constexpr uint64_t kPercentOfPass = 25;

using Places = std::set<std::string, std::less<>>;  // "train.py:18"
using Judge = std::function<bool(const std::vector<trace::Frame>&)>;

class CallSavingFinder {
 public:
  explicit CallSavingFinder(const SavingFacts& facts) : facts_(facts) {}

  std::vector<Saving> Run() {
    FindRepeatedMasks();
    FindDecodedImages();
    FindGrowingCaches();
    FindEvaluationResults();
    FindWideWeights();
    return std::move(found_);
  }

 private:
  void Add(Saving saving) {
    if (saving.bytes > 0) found_.push_back(std::move(saving));
  }

  // Lines of the user's files that the hooks wrote under `key`.
  Places PlacesOf(std::string_view key) const {
    Places places;
    const std::string text = AnnotatedText(facts_.annotations, key);
    for (const absl::string_view place : absl::StrSplit(text, ' ', absl::SkipEmpty()))
      places.emplace(place);
    return places;
  }

  // True if the innermost frame of Python is one of these lines: it called for the memory itself.
  static bool IsAtLine(const std::vector<trace::Frame>& stack, const Places& places) {
    const auto innermost = std::find_if(stack.begin(), stack.end(),
                                        [](const trace::Frame& frame) { return !IsNative(frame); });
    return innermost != stack.end() && places.contains(ShortFrame(*innermost));
  }

  // Blocks in use whose stacks are such.
  std::vector<const Block*> BlocksWhere(const Judge& is_such) const {
    absl::flat_hash_map<trace::StackId, bool> known;
    std::vector<const Block*> blocks;
    for (const CapturedBlock& entry : facts_.captured) {
      const Block& block = facts_.live.block(entry.id);
      if (entry.waiting) continue;
      const auto [stack, is_new] = known.try_emplace(block.allocation.stack, false);
      if (is_new) stack->second = is_such(facts_.source.Stack(block.allocation.stack));
      if (stack->second) blocks.push_back(&block);
    }
    return blocks;
  }

  // The largest part that another block in use is of this many bytes, without a rest: "a twelfth".
  uint64_t TimesOfAnother(uint64_t bytes) const {
    constexpr uint64_t kMostHeads = 256;
    uint64_t times = 0;
    for (const CapturedBlock& entry : facts_.captured) {
      const uint64_t other = facts_.live.block(entry.id).allocation.requested;
      const bool is_part = other > 0 && other < bytes && bytes % other == 0;
      if (!entry.waiting && is_part && bytes / other <= kMostHeads)
        times = std::max(times, bytes / other);
    }
    return times;
  }

  // The mask itself is in use, so that a view of it costs nothing. What attention makes of the
  // repeated one, a padded copy, is as many times smaller.
  void FindRepeatedMasks() {
    const Places places = PlacesOf("source.repeats_mask");
    if (places.empty()) return;
    uint64_t saved = 0;
    uint64_t largest = 0;
    uint64_t times = 0;
    std::string place;
    for (const Block* block :
         BlocksWhere([&places](const auto& stack) { return IsAtLine(stack, places); })) {
      const uint64_t bytes = block->allocation.requested;
      const uint64_t repeated = TimesOfAnother(bytes);
      if (repeated < 2) continue;
      saved += bytes;
      if (bytes <= largest) continue;
      largest = bytes;
      times = repeated;
      place = ShortFrame(*InnermostUserFrame(facts_.source.Stack(block->allocation.stack)));
    }
    if (saved == 0) return;
    const uint64_t request = facts_.request_bytes;
    const bool is_copy = request >= largest && request - largest <= largest / 100;
    if (is_copy) saved += request - request / times;
    Saving saving = SavingOf(Id::kOneMask, saved, saved);
    saving.change = place + ": " + saving.change;
    saving.percent_that_fits = kPercentOfPass;
    Add(std::move(saving));
  }

  void FindDecodedImages() {
    const uint64_t images = AnnotatedNumber(facts_.annotations, "forward.batch").value_or(0);
    if (images < 2) return;
    uint64_t bytes = BytesWhere(facts_, IsVaeDecoding);
    if (IsVaeDecoding(facts_.request_stack)) bytes += facts_.request_bytes;
    Saving saving = SavingOf(Id::kVaeSlicing, bytes - bytes / images, bytes - bytes / images);
    saving.percent_that_fits = kPercentOfPass;
    Add(std::move(saving));
  }

  // Each length is a size that torch's cache has not yet: what is cached is of use for none. The
  // old and the new stand beside each other while they are joined.
  void FindGrowingCaches() {
    const Places places = PlacesOf("source.concatenates");
    const auto is_joined = [&places](const std::vector<trace::Frame>& stack) {
      return IsGrowingCache(stack) || IsAtLine(stack, places);
    };
    std::map<trace::StackId, std::map<uint64_t, uint64_t>> sizes;  // -> bytes of that size
    for (const Block* block : BlocksWhere(is_joined))
      sizes[block->allocation.stack][block->allocation.requested] += block->allocation.requested;
    uint64_t older = 0;
    for (const auto& [stack, of_size] : sizes) {
      for (auto size = of_size.begin(); std::next(size) != of_size.end(); ++size)
        older += size->second;
    }
    const uint64_t cached = facts_.ledger.positive("cached") + facts_.ledger.positive("holes");
    if (cached < facts_.held.bytes / 2) return;
    Saving saving = SavingOf(Id::kStaticCache, older, older);
    saving.is_small_and_matters = true;
    Add(std::move(saving));
  }

  void FindEvaluationResults() {
    uint64_t bytes = BytesWhere(facts_, IsEvaluationResult);
    if (IsEvaluationResult(facts_.request_stack)) bytes += facts_.request_bytes;
    Add(SavingOf(Id::kEvalAccumulation, bytes, bytes));
  }

  // Not of what is trained: that is the row of bf16 parameters.
  void FindWideWeights() {
    const std::string card = std::to_string(facts_.device);
    const uint64_t wider = AnnotatedNumber(facts_.annotations, "load.wider." + card).value_or(0);
    const auto trained = AnnotatedNumber(facts_.annotations, "optimizer.trained_bytes." + card);
    if (trained.value_or(0) > wider) return;
    const bool is_bfloat16 = AnnotatedText(facts_.annotations, "load.file_type") == "BF16";
    const std::string type = is_bfloat16 ? "bfloat16" : "float16";
    Saving saving = SavingOf(Id::kTypeOfFile, wider, wider);
    saving.change = "from_pretrained(..., dtype=torch." + type + "), as the file has it";
    if (AnnotatedNumber(facts_.annotations, "source.trains") == 0)
      saving.percent_that_fits = kPercentOfLoaded;
    Add(std::move(saving));
  }

  const SavingFacts& facts_;
  std::vector<Saving> found_;
};

}  // namespace

std::vector<Saving> FindCallSavings(const SavingFacts& facts) {
  return CallSavingFinder(facts).Run();
}

}  // namespace memtrace::analysis
