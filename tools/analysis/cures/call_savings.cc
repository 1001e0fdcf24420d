// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/call_savings.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;

using Places = std::set<std::string, std::less<>>;  // "train.py:18"

class CallSavingFinder {
 public:
  explicit CallSavingFinder(const SavingFacts& facts) : facts_(facts) {}

  std::vector<Saving> Run() {
    FindRepeatedMasks();
    FindDecodedImages();
    FindGrowingCaches();
    FindEvaluationResults();
    FindWideWeights();
    FindWideMoves();
    FindComputedCopies();
    FindTooLargeForCard();
    return list_.Take();
  }

 private:
  // Returns the lines of the user's files that the hooks wrote under `key`.
  Places PlacesOf(std::string_view key) const {
    Places places;
    const std::string text = AnnotatedText(facts_.annotations, key);
    for (const absl::string_view place : absl::StrSplit(text, ' ', absl::SkipEmpty()))
      places.emplace(place);
    return places;
  }

  // True if the innermost frame of Python is one of these lines, so that the line itself requested
  // the memory.
  static bool IsAtLine(const std::vector<trace::Frame>& stack, const Places& places) {
    const trace::Frame* innermost = InnermostOfPython(stack);
    return innermost != nullptr && places.contains(ShortFrame(*innermost));
  }

  // Returns the largest number of times (at most kMostHeads) that the size of another block in use
  // fits into `bytes` without a remainder; 0 if none does.
  uint64_t TimesOfAnother(uint64_t bytes) const {
    constexpr uint64_t kMostHeads = 256;
    uint64_t times = 0;
    facts_.ForEachBlock([&](BlockId, const Block& block) {
      const uint64_t other = block.allocation.requested;
      const bool is_part = other > 0 && other < bytes && bytes % other == 0;
      if (is_part && bytes / other <= kMostHeads) times = std::max(times, bytes / other);
    });
    return times;
  }

  // The mask itself is in use, so a view of it costs nothing. The padded copy that attention makes
  // of the repeated mask shrinks by the same factor.
  void FindRepeatedMasks() {
    const Places places = PlacesOf(fact::kSourceRepeatsMask);
    if (places.empty()) return;
    uint64_t saved = 0;
    uint64_t largest = 0;
    uint64_t times = 0;
    std::string place;
    for (const Block* block :
         facts_.BlocksWhere([&places](const auto& stack) { return IsAtLine(stack, places); })) {
      const uint64_t bytes = block->allocation.requested;
      const uint64_t repeated = TimesOfAnother(bytes);
      if (repeated < 2) continue;
      saved += bytes;
      if (bytes <= largest) continue;
      largest = bytes;
      times = repeated;
      place = UserLine(facts_.source.Stack(block->allocation.stack));
    }
    if (saved == 0) return;
    const uint64_t request = facts_.request_bytes;
    const bool is_copy = request >= largest && request - largest <= largest / 100;
    if (is_copy) saved += request - request / times;
    Saving saving = SavingOf(Id::kOneMask, saved, saved);
    saving.change = Message("$0: $1", place, MessageOf(saving.change));
    saving.percent_that_fits = kPercentOfPass;
    list_.Add(std::move(saving));
  }

  void FindDecodedImages() {
    const uint64_t images = AnnotatedNumber(facts_.annotations, fact::kForwardBatch).value_or(0);
    uint64_t bytes = facts_.BytesWhere(IsVaeDecoding);
    if (IsVaeDecoding(facts_.request_stack)) bytes += facts_.request_bytes;
    if (IsVideoDecoding(facts_.request_stack)) return AddFewerFrames(bytes, images);
    if (images == 1) return AddTiling(bytes);
    if (images == 0) return;
    Saving saving = SavingOf(Id::kVaeSlicing, bytes - bytes / images, bytes - bytes / images);
    saving.percent_that_fits = kPercentOfPass;
    list_.Add(std::move(saving));
  }

  // The size of the tiles is not known, and nothing is gained for an image that is a single tile.
  void AddTiling(uint64_t bytes) {
    Saving saving = SavingOf(Id::kVaeTiling, bytes, bytes);
    saving.at_least = true;
    list_.Add(std::move(saving));
  }

  void AddFewerFrames(uint64_t bytes, uint64_t frames) {
    constexpr uint64_t kAtATime = 4;
    if (frames < 2) return;
    const uint64_t at_a_time = frames > kAtATime ? kAtATime : 1;
    Saving saving = SavingOf(Id::kFewerFrames, bytes - bytes / frames * at_a_time, 0);
    const std::string code = "pipe(..., decode_chunk_size=" + std::to_string(at_a_time) + ")";
    saving.change =
        IsOfVideoPipeline(facts_.request_stack)
            ? code
            : Message(
                  "vae.decode(latents[i : i + $0], num_frames=$0) of $0 of the $1 frames at a time",
                  at_a_time, frames);
    saving.at_least = true;  // the passes before it may need more
    list_.Add(std::move(saving));
  }

  // Each length has a size that torch's cache does not hold yet, so nothing cached serves it. The
  // old and the new block exist side by side while they are joined.
  void FindGrowingCaches() {
    const Places places = PlacesOf(fact::kSourceConcatenates);
    const auto is_joined = [&places](const std::vector<trace::Frame>& stack) {
      return IsGrowingCache(stack) || IsAtLine(stack, places);
    };
    std::map<trace::StackId, std::map<uint64_t, uint64_t>> sizes;  // -> bytes of that size
    for (const Block* block : facts_.BlocksWhere(is_joined))
      sizes[block->allocation.stack][block->allocation.requested] += block->allocation.requested;
    uint64_t older = 0;
    for (const auto& [stack, of_size] : sizes) {
      for (auto size = of_size.begin(); std::next(size) != of_size.end(); ++size)
        older += size->second;
    }
    const uint64_t cached =
        facts_.ledger.positive(LedgerPart::kCached) + facts_.ledger.positive(LedgerPart::kHoles);
    if (cached < facts_.held.bytes / 2) return;
    Saving saving = SavingOf(Id::kStaticCache, older, older);
    saving.is_small_and_matters = true;
    list_.Add(std::move(saving));
  }

  void FindEvaluationResults() {
    uint64_t bytes = facts_.BytesWhere(IsEvaluationResult);
    if (IsEvaluationResult(facts_.request_stack)) bytes += facts_.request_bytes;
    Saving saving = SavingOf(Id::kEvalAccumulation, bytes, bytes);
    saving.ends_growth = facts_.GrowsBy(IsEvaluationResult);
    list_.Add(std::move(saving));
  }

  // Trained weights are left to the row of bf16 parameters.
  void FindWideWeights() {
    const std::string key = fact::kLoadWider.Of(facts_.device);
    const uint64_t wider = AnnotatedNumber(facts_.annotations, key).value_or(0);
    if (facts_.TrainedBytes() > wider) return;
    const bool is_bfloat16 = AnnotatedText(facts_.annotations, fact::kLoadFileType) == "BF16";
    const std::string type = is_bfloat16 ? "bfloat16" : "float16";
    Saving saving = SavingOf(Id::kTypeOfFile, wider, wider);
    saving.change = Message("from_pretrained(..., dtype=torch.$0), as in the file", type);
    if (AnnotatedNumber(facts_.annotations, fact::kSourceTrains) == 0)
      saving.percent_that_fits = kPercentOfLoaded;
    list_.Add(std::move(saving));
  }

  // Finds a model of fp32 weights that is moved to the card by a program that does not train.
  void FindWideMoves() {
    const std::string card = std::to_string(facts_.device);
    const uint64_t wide =
        AnnotatedNumber(facts_.annotations, fact::kPlacingWide.Of(card)).value_or(0);
    if (AnnotatedNumber(facts_.annotations, fact::kSourceTrains) != 0) return;
    Saving saving = SavingOf(Id::kHalfBeforeCard, wide / 2, wide / 2);
    saving.percent_that_fits = kPercentOfLoaded;
    if (AnnotatedNumber(facts_.annotations, fact::kSourceHalves) == 1) {
      saving.effort = Effort::kOption;
      saving.cost = Message("none if the program does this afterwards");
    }
    list_.Add(std::move(saving));
  }

  // True if autograd keeps nothing of what is computed now.
  bool IsWithoutGraph() const {
    const trace::Phase phase = facts_.moment.phase;
    return phase != trace::Phase::kForward && phase != trace::Phase::kBackward &&
           phase != trace::Phase::kRecompute && phase != trace::Phase::kOptimizer;
  }

  // The file and the name of a function of the user's.
  using Function = std::pair<std::string, std::string>;

  // Returns the user's functions on the stack of the failed request.
  std::set<Function> FunctionsOfRequest() const {
    std::set<Function> functions;
    for (const trace::Frame& frame : facts_.request_stack)
      if (!IsNative(frame) && !IsLibraryFile(frame.file))
        functions.emplace(frame.file, frame.function);
    return functions;
  }

  // True if a block in use has about the size of the request and was made by one of these
  // functions.
  bool IsComputedOfAlike(const std::set<Function>& functions) const {
    constexpr uint64_t kPart = 100;
    bool found = false;
    facts_.ForEachBlock([&](BlockId, const Block& block) {
      const uint64_t bytes = block.allocation.requested;
      const uint64_t larger = std::max(bytes, facts_.request_bytes);
      if (found || larger - std::min(bytes, facts_.request_bytes) > larger / kPart) return;
      const std::vector<trace::Frame> stack = facts_.source.Stack(block.allocation.stack);
      const trace::Frame* user = InnermostUserFrame(stack);
      found = user != nullptr && functions.contains({user->file, user->function});
    });
    return found;
  }

  // Returns the user's line that requested the memory through an operation of torch, possibly with
  // torch's Python functions in between; empty if another library or a module requested it.
  static std::string LineOfOperation(const std::vector<trace::Frame>& stack) {
    for (const trace::Frame& frame : stack) {
      if (IsNative(frame) || (IsOfTorch(frame) && !IsModuleCall(frame))) continue;
      return IsLibraryFile(frame.file) ? "" : ShortFrame(frame);
    }
    return "";
  }

  // Finds a large result of arithmetic at a line of the user's, beside an input as large. In place
  // the result needs no memory; in two pieces half of both is needed.
  void FindComputedCopies() {
    constexpr uint64_t kTenth = 10;
    const bool is_large =
        facts_.ledger.total_known && facts_.request_bytes >= facts_.ledger.total / kTenth;
    const trace::Frame* innermost = InnermostOfPython(facts_.request_stack);
    const bool is_activation = innermost != nullptr && IsActivation(*innermost);
    const std::string line =
        is_activation ? UserLine(facts_.request_stack) : LineOfOperation(facts_.request_stack);
    if (!is_large || line.empty() || !IsWithoutGraph()) return;
    if (!is_activation && AnnotatedText(facts_.annotations, fact::kRequestComputes) != line) return;
    if (!IsComputedOfAlike(FunctionsOfRequest())) return;
    Saving saving = SavingOf(Id::kInPlace, facts_.request_bytes, 0);
    saving.change =
        is_activation
            ? Message(
                  "$0: inplace=True for $1 if its input is not read again, otherwise in pieces "
                  "(tiles)",
                  line, BareFunction(innermost->function))
            : Message("$0: $1", line, MessageOf(saving.change));
    list_.Add(std::move(saving));
  }

  // Finds a single tensor that no state of this card has room for, requested by a line of the
  // user's itself. The need of a part of it is not known.
  void FindTooLargeForCard() {
    const std::string line = LineOfOperation(facts_.request_stack);
    if (!facts_.verdict.is_larger_than_card || line.empty() || !IsWithoutGraph()) return;
    Saving saving = SavingOf(Id::kPartsFromHost, facts_.request_bytes, 0);
    saving.change = Message("$0: $1", line, MessageOf(saving.change));
    saving.at_least = true;
    list_.Add(std::move(saving));
  }

  const SavingFacts& facts_;
  SavingList list_;
};

}  // namespace

std::vector<Saving> FindCallSavings(const SavingFacts& facts) {
  return CallSavingFinder(facts).Run();
}

}  // namespace memtrace::analysis
