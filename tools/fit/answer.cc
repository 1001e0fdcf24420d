// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/answer.h"

#include "absl/strings/numbers.h"

namespace memtrace::fit {

std::optional<FailedLine> Outcome::Failed() const {
  if (completed) return std::nullopt;
  for (const ProcessNeed& process : processes)
    if (process.failed) return process.failed;
  return std::nullopt;
}

StepCost Outcome::cost() const {
  const auto number = [this](const char* key) {
    const auto found = annotations.find(key);
    uint64_t value = 0;
    return found != annotations.end() && absl::SimpleAtoi(found->second, &value) ? value
                                                                                 : uint64_t{0};
  };
  return {.kernel_launches = number("fit.step.kernel_launches"),
          .product_operations = number("fit.step.product_operations"),
          .host_copy_bytes = number("fit.step.host_copy_bytes")};
}

}  // namespace memtrace::fit
