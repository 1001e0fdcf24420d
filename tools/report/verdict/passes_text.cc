// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict/passes_text.h"

#include "messages/message.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

std::string SizeText(const analysis::CallSize& size) {
  const std::string examples = FormatCount(size.examples);
  if (size.length == 0) return CountedMessage(size.examples, "1 example", "$0 examples", examples);
  return CountedMessage(size.examples, "1 example of length $1", "$0 examples of length $1",
                        examples, FormatCount(size.length));
}

}  // namespace

std::string SummedPassesSentence(const analysis::ExplainedKept& kept) {
  if (!kept.summed_passes) return "";
  const analysis::SummedPasses& summed = *kept.summed_passes;
  const std::string loop = Printable(summed.loop);
  const std::string name = Printable(summed.name);
  const std::string backward = Printable(summed.backward);
  if (summed.hands_on()) {
    return Message(
        "Each pass of the loop at $0 hands '$1' on to the next, and the backward pass comes only "
        "after them ($2). Until then the graphs of all passes stay in memory.",
        loop, name, backward);
  }
  return CountedMessage(
      summed.passes,
      "The loop at $0 adds up the losses of its passes in '$1', and the backward pass comes only "
      "after them ($2). Until then the graph of each pass stays in memory, 1 so far.",
      "The loop at $0 adds up the losses of its passes in '$1', and the backward pass comes only "
      "after them ($2). Until then the graph of each pass stays in memory, $3 so far.",
      loop, name, backward, FormatCount(summed.passes));
}

std::string EvalModeSentence(const analysis::ExplainedKept& kept,
                             const analysis::ExplainedHolders& holders) {
  const auto& activations = kept.kept_for_backward;
  if (!activations || !activations->is_eval || !holders.is_of_weight(activations->bytes, 10))
    return "";
  return Message(
      "The model is in eval mode, but gradients are on. So $0 of activations is kept for a "
      "backward "
      "pass, and such passes had none so far.",
      FormatBytes(activations->bytes));
}

std::string UntrainedSentence(const analysis::ExplainedKept& kept,
                              const analysis::ExplainedHolders& holders) {
  const auto& untrained = kept.untrained_passes;
  if (!untrained || !holders.is_of_weight(untrained->bytes, 10)) return "";
  return Message(
      "$0 of activations is kept for a backward pass through the call at $1. The model called "
      "there "
      "is in eval mode and no optimizer steps it, but the call is not under torch.no_grad().",
      FormatBytes(untrained->bytes), Printable(untrained->line));
}

std::string LargestCallSentence(const analysis::ExplainedFailure& failure) {
  const auto& call = failure.largest_call;
  if (!call) return "";
  return Message("This batch is the largest so far: $0. The largest before it was $1.",
                 SizeText(call->now), SizeText(call->before));
}

}  // namespace memtrace::report
