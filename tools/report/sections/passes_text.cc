// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/passes_text.h"

#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {

namespace {

std::string SizeText(const analysis::CallSize& size) {
  return size.length == 0 ? FormatCounted(size.examples, "example")
                          : FormatCount(size.examples) + " x " + FormatCount(size.length);
}

}  // namespace

std::string SummedPassesSentence(const analysis::Explanation& explanation) {
  if (!explanation.kept.summed_passes) return "";
  const analysis::SummedPasses& summed = *explanation.kept.summed_passes;
  if (summed.hands_on()) {
    return "Each pass of the loop at " + Printable(summed.loop) + " hands '" +
           Printable(summed.name) + "' on to the next, and the backward comes after them (" +
           Printable(summed.backward) + "): until then the graphs of all passes stay.";
  }
  return "The losses of the passes of the loop at " + Printable(summed.loop) +
         " are added up in '" + Printable(summed.name) + "', whose backward comes after them (" +
         Printable(summed.backward) + "): until then the graph of each pass stays, " +
         FormatCount(summed.passes) + " so far.";
}

std::string EvalModeSentence(const analysis::Explanation& explanation) {
  const auto& kept = explanation.kept.kept_for_backward;
  if (!kept || !kept->is_eval || !explanation.holders.is_of_weight(kept->bytes, 10)) return "";
  return "The model is in eval mode and gradients are on: " + FormatBytes(kept->bytes) +
         " of activations are kept for a backward that such passes had none of so far.";
}

std::string UntrainedSentence(const analysis::Explanation& explanation) {
  const auto& untrained = explanation.kept.untrained_passes;
  if (!untrained || !explanation.holders.is_of_weight(untrained->bytes, 10)) return "";
  return FormatBytes(untrained->bytes) +
         " of activations are kept for a backward through the call at " +
         Printable(untrained->line) +
         ", of a model in eval mode that no optimizer steps, called without torch.no_grad().";
}

std::string LargestCallSentence(const analysis::Explanation& explanation) {
  const auto& call = explanation.failure.largest_call;
  if (!call) return "";
  const std::string unit = call->now.length == 0 ? "" : " (examples x length)";
  return "This batch is the largest so far: " + SizeText(call->now) + unit +
         ". None before had more than " + SizeText(call->before) + ".";
}

}  // namespace memtrace::report
