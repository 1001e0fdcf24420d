// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/checkpointing_text.h"

#include "profiler/trace/vocabulary/facts.h"
#include "tools/report/words/printable.h"

namespace memtrace::report {

std::vector<std::string> CheckpointingSentences(const analysis::Annotations& annotations) {
  std::vector<std::string> sentences;
  if (analysis::AnnotatedNumber(annotations, trace::fact::kCheckpointInEval) == 1) {
    sentences.emplace_back(
        "Gradient checkpointing is on, but without effect: the model is in eval mode. "
        "model.train() before the forward pass makes it work.");
  }
  if (const std::string model =
          analysis::AnnotatedText(annotations, trace::fact::kCheckpointWholeModel);
      !model.empty()) {
    sentences.push_back("One checkpoint stands around the whole model (" + Printable(model) +
                        "): backward recomputes the whole model at once, so that all its "
                        "activations exist together again. A checkpoint around each layer keeps "
                        "one layer at a time.");
  }
  if (const std::string place =
          analysis::AnnotatedText(annotations, trace::fact::kCheckpointWithoutGradient);
      !place.empty()) {
    sentences.push_back("No gradient flows through the reentrant checkpoint at " +
                        Printable(place) +
                        ", because none of its inputs requires one: what it runs is not trained. "
                        "use_reentrant=False has no such condition.");
  }
  return sentences;
}

}  // namespace memtrace::report
