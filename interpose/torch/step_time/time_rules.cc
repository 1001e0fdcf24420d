// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/step_time/time_rules.h"

#include <algorithm>

namespace memtrace::shim {
namespace {

// Microseconds until the work of a kernel begins, fitted to small operations on an H100. They are
// assumed to be the same on other cards.
constexpr double kStart = 2.5;
constexpr double kProductStart = 5.0;
constexpr double kConvolutionStart = 6.0;
constexpr double kBusStart = 5.0;
// Copies to channels-last and back move a convolution's bytes this often.
constexpr double kRearrangePasses = 2.4;
// Pageable copies below this size come from the host's cache.
constexpr double kSmallCopy = 32 << 20;
// The part of its speed that attention has with heads of 64 or less; assumed.
constexpr double kSmallHead = 0.7;
constexpr double kSmallHeadSize = 64;
// Attention over fewer rows than this (a token to be generated) is bound by the keys and values.
constexpr double kFewRows = 32;

double ProductRate(const Work& work, const CardTimes& times) {
  switch (work.form) {
    case NumberForm::kFloat8:
      return 2 * times.float16;
    case NumberForm::kBfloat16:
      return work.is_aligned ? times.bfloat16 : std::min(times.unaligned, times.bfloat16);
    case NumberForm::kFloat16:
      return work.is_aligned ? times.float16 : times.unaligned;
    case NumberForm::kTf32:
      return times.tf32;
    case NumberForm::kFloat32:
      break;
  }
  return times.float32;
}

struct AttentionRate {
  double operations;  // in a microsecond, at endless length
  double half;        // the length at which half of it is reached
};

AttentionRate RateOf(const Work& work, const CardTimes& times) {
  switch (work.kernel) {
    case AttentionKernel::kFlash:
      return work.is_backward ? AttentionRate{times.flash_backward, 1505}
                              : AttentionRate{times.flash, 995};
    case AttentionKernel::kCudnn:
      return work.is_backward ? AttentionRate{times.cudnn_backward, 1842}
                              : AttentionRate{times.cudnn, 644};
    case AttentionKernel::kEfficient:
      break;
  }
  return work.is_backward ? AttentionRate{times.efficient_backward, 784}
                          : AttentionRate{times.efficient, 585};
}

double Moving(const Work& work, const CardTimes& times) {
  return kStart + work.passes * work.bytes / times.memory;
}

double Multiplying(const Work& work, const CardTimes& times) {
  return kProductStart +
         std::max(work.operations / ProductRate(work, times), work.bytes / times.memory);
}

// There is no fused kernel for fp32 that is faster than its plain products.
double Attending(const Work& work, const CardTimes& times) {
  const bool is_wide = work.form == NumberForm::kTf32 || work.form == NumberForm::kFloat32;
  if (is_wide) return kProductStart + work.operations / times.float32;
  if (work.length < kFewRows) return Multiplying(work, times);
  const AttentionRate rate = RateOf(work, times);
  const double speed = work.head <= kSmallHeadSize ? kSmallHead : 1.0;
  return work.operations / rate.operations / speed * (1 + rate.half / work.length);
}

double Convolving(const Work& work, const CardTimes& times) {
  const bool is_wide = work.form == NumberForm::kTf32 || work.form == NumberForm::kFloat32;
  const double wide = work.form == NumberForm::kTf32 ? times.convolution32 : times.float32;
  const double rate = is_wide ? wide : times.convolution16;
  const double copies = work.is_rearranged ? kRearrangePasses : 0.0;
  return kConvolutionStart +
         std::max(work.operations / rate, work.passes * work.bytes / times.memory) +
         copies * work.bytes / times.memory;
}

double Copying(const Work& work, const CardTimes& times) {
  double rate = work.kind == WorkKind::kToCard ? times.pageable_to_card : times.pageable_to_host;
  if (work.bytes < kSmallCopy) rate = times.pageable_small;
  if (work.is_pinned) rate = times.pinned;
  return kBusStart + work.bytes / rate;
}

}  // namespace

double MicrosecondsOf(const Work& work, const CardTimes& times) {
  switch (work.kind) {
    case WorkKind::kMoves:
      return Moving(work, times);
    case WorkKind::kProduct:
      return Multiplying(work, times);
    case WorkKind::kAttention:
      return Attending(work, times);
    case WorkKind::kConvolution:
      return Convolving(work, times);
    case WorkKind::kToCard:
    case WorkKind::kToHost:
      return Copying(work, times);
    case WorkKind::kToOtherCard:
      return kBusStart + work.bytes / times.link;
  }
  return 0;
}

}  // namespace memtrace::shim
