// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/frontier_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace memtrace::report {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kMostTicks = 8;

// Returns the multiples of `step` from `from` to `to`.
std::vector<double> Multiples(double from, double to, double step) {
  std::vector<double> ticks;
  for (auto number = static_cast<int64_t>(std::ceil(from / step));
       static_cast<double>(number) * step <= to; ++number)
    ticks.push_back(static_cast<double>(number) * step);
  return ticks;
}

// Returns the smallest of 1, 2 and 5 times a power of ten that is at least `least`.
double RoundStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least) return factor * power;
  return 10 * power;
}

}  // namespace

void FrontierPlot::Range::Include(double value) {
  from = std::min(from, value);
  to = std::max(to, value);
}

void FrontierPlot::Range::Widen(double share) {
  const double by = std::max((to - from) * share, std::abs(to) * 1e-3);
  from = std::max(0.0, from - by);
  to += by;
}

FrontierPlot::FrontierPlot(const std::vector<fit::FrontierPoint>& points, uint64_t card_bytes)
    : bytes_{kInfinite, -kInfinite}, time_{kInfinite, -kInfinite} {
  for (const fit::FrontierPoint& point : points) {
    bytes_.Include(static_cast<double>(point.needs));
    time_.Include(point.time);
  }
  if (card_bytes > 0) bytes_.Include(static_cast<double>(card_bytes));
  constexpr double kRoom = 0.06;
  bytes_.Widen(kRoom);
  time_.Widen(2 * kRoom);
}

double FrontierPlot::X(double bytes) const {
  return kLeft + (kRight - kLeft) * (bytes - bytes_.from) / (bytes_.to - bytes_.from);
}

double FrontierPlot::Y(double time) const {
  return kBottom - (kBottom - kTop) * (time - time_.from) / (time_.to - time_.from);
}

std::vector<double> FrontierPlot::BytesTicks() const {
  return Multiples(bytes_.from, bytes_.to,
                   std::exp2(std::ceil(std::log2((bytes_.to - bytes_.from) / kMostTicks))));
}

std::vector<double> FrontierPlot::TimeTicks() const {
  return Multiples(time_.from, time_.to, RoundStep((time_.to - time_.from) / kMostTicks));
}

}  // namespace memtrace::report
