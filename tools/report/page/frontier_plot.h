// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_FRONTIER_PLOT_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_FRONTIER_PLOT_H_

#include <cstdint>
#include <vector>

#include "tools/fit/cheapest/frontier.h"

namespace memtrace::report {

// Where memory and time lie in a drawing of 1000 x 360 units.
class FrontierPlot {
 public:
  static constexpr double kLeft = 60;
  static constexpr double kRight = 985;
  static constexpr double kTop = 24;
  static constexpr double kBottom = 310;

  // The scales reach around all points and the card.
  FrontierPlot(const std::vector<fit::FrontierPoint>& points, uint64_t card_bytes);

  double X(double bytes) const;
  double Y(double time) const;

  // Returns four to eight round numbers on each scale.
  std::vector<double> BytesTicks() const;
  std::vector<double> TimeTicks() const;

 private:
  struct Range {
    double from = 0;
    double to = 1;

    void Include(double value);
    void Widen(double share);
  };

  Range bytes_;
  Range time_;
};

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_FRONTIER_PLOT_H_
