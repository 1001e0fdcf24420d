// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/remedies.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/units.h"
#include "messages/message.h"
#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Remedies that give the program more of the card.
constexpr std::array kOfTheCard = {memtrace::remedies::Id::kNoOtherProcess,
                                   memtrace::remedies::Id::kHigherLimit,
                                   memtrace::remedies::Id::kLargerCard};

constexpr std::string_view kLeastCard =
    Marked("the smallest card for what is known of the program as it is; the rest comes on top");
constexpr std::string_view kGrowsOn =
    Marked("enough only if the program ends before what grows fills that card as well");

uint64_t WholeMiB(uint64_t bytes) { return RoundUp(bytes, kMiB); }

// True if the rest of the failed step is not known, but enough of the card is left for it that the
// change suffices.
bool LeavesRoom(const Saving& saving, uint64_t need, const Ledger& ledger) {
  constexpr uint64_t kPercent = 100;
  return ledger.total_known && need <= ledger.total / kPercent * saving.percent_that_fits;
}

// True if the need of a later step, which does not count holes, is so close to the card that holes
// may exceed it: torch's own allocator left up to 4 percent of them in docs/cases.
bool LeavesNoRoomForHoles(const Remedy& remedy, const Ledger& ledger) {
  constexpr uint64_t kPercent = 100;
  constexpr uint64_t kFits = 95;
  const bool is_later = remedy.next_step && *remedy.next_step > remedy.this_step;
  return is_later && ledger.total_known && remedy.need() <= ledger.total &&
         remedy.need() > ledger.total / kPercent * kFits;
}

// Bytes of the layers that this pass did not reach, and of the states: the next step's pass needs
// both.
uint64_t OfNextPass(const Verdict& verdict) {
  const auto& layers = verdict.rest.layers;
  return layers ? layers->to_come + verdict.rest.optimizer.states : 0;
}

// Returns the effort by which a remedy is ranked. Among those that may fit, an option that leaves
// much of the card free comes first and a change of the results comes last; between them, the less
// is needed, the likelier it fits. For remedies that surely do not fit, only the need counts.
Effort EffortForRanking(const Remedy& remedy, const Ledger& ledger, bool fits) {
  constexpr uint64_t kPercent = 100;
  constexpr uint64_t kMuch = 80;
  if (fits || remedy.effort == Effort::kResults) return remedy.effort;
  const bool leaves_much = remedy.need() <= ledger.total / kPercent * kMuch;
  return remedy.effort <= Effort::kOption && leaves_much ? Effort::kOption : Effort::kLines;
}

// True if it is only known that the sum, of which the request is a part, must fit, and not whether
// the free pieces suffice after the change.
bool DependsOnFreePieces(const Verdict& verdict, const Saving& saving) {
  return verdict.cause == Cause::kFragmentation && !saving.need;
}

// Returns what the card must hold with the saving. `later`: the need of the next step, if known.
Remedy RemedyOf(const Saving& saving, const Need& need, std::optional<uint64_t> later,
                const Verdict& verdict, const Ledger& ledger) {
  Remedy remedy{.name = saving.name,
                .this_step = Less(need.bytes, saving.bytes),
                .next_step = later,
                .how_known = saving.how_known,
                .change = saving.change,
                .cost = saving.cost,
                .hook = saving.hook,
                .effort = saving.effort,
                .at_least = (need.at_least && !saving.is_whole) || saving.at_least,
                .ends_growth = saving.ends_growth};
  if (DependsOnFreePieces(verdict, saving)) {
    const uint64_t sum = Less(ledger.total, Unused(ledger)) + verdict.requested;
    remedy.this_step = WholeMiB(Less(std::min(sum, need.bytes), saving.bytes));
    remedy.at_least = true;
  }
  if (saving.need) {
    remedy.this_step = WholeMiB(*saving.need);
    remedy.at_least = saving.at_least;
  }
  if (!saving.at_least && LeavesRoom(saving, remedy.this_step, ledger)) remedy.at_least = false;
  if (later) remedy.next_step = Less(*later, saving.bytes_later);
  if (LeavesNoRoomForHoles(remedy, ledger)) remedy.at_least = true;
  return remedy;
}

// Returns the row that gives more memory to the program as it is.
Remedy MoreMemory(memtrace::remedies::Id id, const Need& need, std::optional<uint64_t> later,
                  std::string_view how_known, bool at_least) {
  const memtrace::remedies::Row& row = memtrace::remedies::RowOf(id);
  return {.name = std::string(row.name),
          .this_step = need.bytes,
          .next_step = later,
          .how_known = how_known,
          .change = std::string(row.change),
          .cost = std::string(row.cost),
          .effort = row.effort,
          .at_least = at_least};
}

// True if the program as it is needs more than the card has.
bool NeedsLargerCard(const Verdict& verdict, const Ledger& ledger, std::optional<uint64_t> later) {
  if (!ledger.total_known) return false;
  const bool is_full = verdict.cause != Cause::kNone && verdict.cause != Cause::kLimit &&
                       verdict.cause != Cause::kCached;
  return is_full || (later && *later > ledger.total);
}

Remedy LargerCard(const Need& need, std::optional<uint64_t> later) {
  const bool is_of_later_step = later && *later > need.bytes;  // which does not count holes
  Remedy remedy = MoreMemory(memtrace::remedies::Id::kLargerCard, need, later, "estimated",
                             need.at_least || is_of_later_step);
  if (remedy.at_least) remedy.change = kLeastCard;
  return remedy;
}

}  // namespace

uint64_t Remedy::need() const { return std::max(this_step, next_step.value_or(0)); }

Need NeedOf(const Verdict& verdict, const Ledger& ledger, const std::optional<NextStep>& next,
            uint64_t failed_in) {
  const uint64_t used = Less(ledger.total, ledger.positive(LedgerPart::kFree) + ledger.granules);
  if (verdict.cause == Cause::kNone) return {used, false};
  // The card is not full, so the need is what the process would take of it.
  if (verdict.cause == Cause::kLimit) return {WholeMiB(used + verdict.requested), true};
  if (verdict.cause == Cause::kTooLarge || verdict.cause == Cause::kCached)
    return {WholeMiB(used + verdict.requested), true};
  // Holes beside blocks are too small for most of what is to come, so they remain on a larger card.
  const uint64_t least =
      std::max({used + verdict.rest.rise.value_or(0), used + OfNextPass(verdict),
                ledger.total + verdict.step_short_by.value_or(verdict.short_by)});
  const bool is_known = verdict.step_short_by && !verdict.rest.at_least;
  if (!is_known && next && next->number == failed_in)
    return {WholeMiB(std::max(next->need, least)), next->left_gradients > 0};
  return {WholeMiB(least), !is_known};
}

void RankRemedies(std::vector<Remedy>& remedies, const Ledger& ledger) {
  const auto rank = [&ledger](const Remedy& remedy) {
    // It fits or may fit: its known need is at most the card.
    const bool may_fit = ledger.total_known && remedy.need() <= ledger.total;
    const bool fits = may_fit && !remedy.at_least;
    // The row exists only if the limit is the cause.
    const bool is_of_limit =
        remedy.name == memtrace::remedies::RowOf(memtrace::remedies::Id::kHigherLimit).name;
    const bool is_replayed = remedy.how_known == "replayed";  // it served the request
    return std::tuple(!remedy.ends_growth, !is_of_limit, remedy.effort == Effort::kMoney, !fits,
                      !fits && !is_replayed, !may_fit,
                      may_fit ? EffortForRanking(remedy, ledger, fits) : Effort::kSetting,
                      remedy.need());
  };
  std::stable_sort(remedies.begin(), remedies.end(),
                   [&rank](const Remedy& a, const Remedy& b) { return rank(a) < rank(b); });
}

void MarkFitsUncertain(std::vector<Remedy>& remedies, const Ledger& ledger) {
  for (Remedy& remedy : remedies) remedy.at_least |= !remedy.ends_growth;
  RankRemedies(remedies, ledger);
}

void DropPostponingRemedies(std::vector<Remedy>& remedies) {
  const auto is_of_the_card = [](const Remedy& remedy) {
    using memtrace::remedies::Id;
    return std::any_of(kOfTheCard.begin(), kOfTheCard.end(), [&remedy](Id id) {
      return remedy.name == memtrace::remedies::RowOf(id).name;
    });
  };
  std::erase_if(remedies, [&](const Remedy& remedy) {
    return !remedy.ends_growth && !is_of_the_card(remedy);
  });
  for (Remedy& remedy : remedies)
    if (remedy.name == memtrace::remedies::RowOf(memtrace::remedies::Id::kLargerCard).name)
      remedy.change = kGrowsOn;
}

std::vector<Remedy> FindRemedies(const Verdict& verdict, const Ledger& ledger,
                                 const std::optional<NextStep>& next, uint64_t failed_in,
                                 const std::vector<Saving>& savings) {
  const Need need = NeedOf(verdict, ledger, next, failed_in);
  std::optional<uint64_t> later;
  if (next && next->number > failed_in) later = WholeMiB(next->need);
  std::vector<Remedy> remedies;
  remedies.reserve(savings.size());
  for (const Saving& saving : savings)
    remedies.push_back(RemedyOf(saving, need, later, verdict, ledger));
  using memtrace::remedies::Id;
  if (verdict.cause == Cause::kLimit)
    remedies.push_back(MoreMemory(Id::kHigherLimit, need, later, "exact", /*at_least=*/true));
  if (verdict.cause == Cause::kCached)
    remedies.push_back(MoreMemory(Id::kEmptyCache, need, later, "exact", /*at_least=*/false));
  if (NeedsLargerCard(verdict, ledger, later)) remedies.push_back(LargerCard(need, later));
  RankRemedies(remedies, ledger);
  return remedies;
}

}  // namespace memtrace::analysis
