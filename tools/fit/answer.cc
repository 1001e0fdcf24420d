// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/answer.h"

namespace memtrace::fit {

std::optional<FailedLine> Outcome::Failed() const {
  if (completed) return std::nullopt;
  for (const ProcessNeed& process : processes)
    if (process.failed) return process.failed;
  return std::nullopt;
}

StepCost Outcome::cost() const {
  const auto number = [this](const char* key) {
    return analysis::AnnotatedNumber(annotations, key).value_or(0);
  };
  return {.kernel_launches = number("fit.step.kernel_launches"),
          .product_operations = number("fit.step.product_operations"),
          .host_copy_bytes = number("fit.step.host_copy_bytes")};
}

}  // namespace memtrace::fit
