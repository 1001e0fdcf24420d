// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict/checkpointing_text.h"

#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/report/words/printable.h"

namespace memtrace::report {

std::vector<std::string> CheckpointingSentences(const analysis::Annotations& annotations) {
  std::vector<std::string> sentences;
  if (analysis::AnnotatedNumber(annotations, trace::fact::kCheckpointInEval) == 1) {
    sentences.push_back(Message(
        "Gradient checkpointing is on but has no effect, because the model is in eval mode. "
        "Call model.train() before the forward pass."));
  }
  if (const std::string model =
          analysis::AnnotatedText(annotations, trace::fact::kCheckpointWholeModel);
      !model.empty()) {
    sentences.push_back(Message(
        "One checkpoint covers the whole model ($0). The backward pass recomputes all of it "
        "at once, so all its activations exist together again. With a checkpoint around "
        "each layer, only one layer's activations exist at a time.",
        Printable(model)));
  }
  if (const std::string place =
          analysis::AnnotatedText(annotations, trace::fact::kCheckpointWithoutGradient);
      !place.empty()) {
    sentences.push_back(
        Message("No gradient flows through the reentrant checkpoint at $0, because none of its "
                "inputs requires one. What it runs is not trained. use_reentrant=False does not "
                "have this condition.",
                Printable(place)));
  }
  return sentences;
}

}  // namespace memtrace::report
