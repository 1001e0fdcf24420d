// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/step_time/operator_rules.h"

#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace memtrace::shim {
namespace {

using Rules = std::unordered_map<std::string, WorkRule>;

// How often these kernels move their bytes (bench/card_times.py). Those of softmax, log_softmax
// and the forward of layer_norm were measured; the others were counted in torch's kernels.
struct NamedPasses {
  std::string_view name;
  double passes;
};
constexpr NamedPasses kPasses[] = {
    {"aten::_softmax", 2.34},
    {"aten::_log_softmax", 1.87},
    {"aten::native_layer_norm", 1.47},
    {"aten::native_layer_norm_backward", 2.0},
    {"aten::native_group_norm", 1.47},
    {"aten::native_group_norm_backward", 2.0},
    {"aten::_fused_rms_norm", 1.47},
    {"aten::_fused_rms_norm_backward", 2.0},
    {"aten::native_batch_norm", 1.5},
    {"aten::cudnn_batch_norm", 1.5},
    {"aten::_native_batch_norm_legit", 1.5},
    {"aten::_batch_norm_with_update", 1.5},
    {"aten::native_batch_norm_backward", 1.67},
    {"aten::cudnn_batch_norm_backward", 1.67},
    {"aten::batch_norm_backward", 1.67},
};

constexpr std::string_view kFirstFactorFirst[] = {"aten::mm",          "aten::bmm",
                                                  "aten::_scaled_mm",  "aten::_int_mm",
                                                  "aten::_grouped_mm", "aten::_scaled_grouped_mm"};
constexpr std::string_view kFirstFactorSecond[] = {"aten::addmm",   "aten::addmm_",
                                                   "aten::baddbmm", "aten::baddbmm_",
                                                   "aten::addbmm",  "aten::_addmm_activation"};
constexpr std::string_view kGathering[] = {
    "aten::embedding", "aten::index",         "aten::index_select", "aten::gather",
    "aten::take",      "aten::masked_select", "aten::_unsafe_index"};
constexpr std::string_view kScattering[] = {
    "aten::index_put_",      "aten::_index_put_impl_", "aten::index_add_",
    "aten::index_copy_",     "aten::scatter_",         "aten::scatter_add_",
    "aten::scatter_reduce_", "aten::masked_scatter_",  "aten::index_fill_"};
constexpr std::string_view kSkippingFirst[] = {"aten::nll_loss_forward",
                                               "aten::nll_loss2d_forward"};
constexpr std::string_view kSkippingSecond[] = {"aten::nll_loss_backward",
                                                "aten::nll_loss2d_backward"};

// aten's operators that take more than their bytes say.
constexpr std::string_view kUnknownStarts[] = {"aten::linalg_",  "aten::_linalg_",
                                               "aten::_fft_",    "aten::_cudnn_rnn",
                                               "aten::sort",     "aten::_unique",
                                               "aten::cholesky", "aten::_cdist",
                                               "aten::ormqr",    "aten::geqrf",
                                               "aten::topk",     "aten::unique_",
                                               "aten::lu_",      "aten::triangular_solve",
                                               "aten::_ctc_loss"};

WorkRule Attention(AttentionKernel kernel, bool is_backward, bool has_heads_last = false) {
  WorkRule rule;
  rule.kind = WorkKind::kAttention;
  rule.kernel = kernel;
  rule.is_backward = is_backward;
  rule.has_heads_last = has_heads_last;
  return rule;
}

void AddAttention(Rules& rules) {
  const std::pair<std::string_view, AttentionKernel> kernels[] = {
      {"flash", AttentionKernel::kFlash},
      {"cudnn", AttentionKernel::kCudnn},
      {"efficient", AttentionKernel::kEfficient}};
  for (const auto& [word, kernel] : kernels) {
    const std::string dot = "aten::_scaled_dot_product_" + std::string(word) + "_attention";
    const std::string plain = "aten::_" + std::string(word) + "_attention_";
    rules[dot] = Attention(kernel, false);
    rules[dot + "_backward"] = Attention(kernel, true);
    rules[plain + "forward"] = Attention(kernel, false, true);
    rules[plain + "backward"] = Attention(kernel, true, true);
  }
  for (const char* start : {"flash_attn::_flash_attn_", "flash_attn::_flash_attn_varlen_"}) {
    rules[start + std::string("forward")] = Attention(AttentionKernel::kFlash, false, true);
    rules[start + std::string("backward")] = Attention(AttentionKernel::kFlash, true, true);
  }
}

void AddConvolutions(Rules& rules) {
  WorkRule rule;
  rule.kind = WorkKind::kConvolution;
  for (const char* name : {"aten::cudnn_convolution", "aten::cudnn_convolution_relu",
                           "aten::cudnn_convolution_add_relu", "aten::_conv_depthwise2d",
                           "aten::conv_depthwise3d", "aten::_slow_conv2d_forward"})
    rules[name] = rule;
  rule.is_transposed = true;
  for (const char* name : {"aten::cudnn_convolution_transpose", "aten::slow_conv_transpose2d"})
    rules[name] = rule;
  rule.is_transposed = false;
  rule.is_backward = true;
  rules["aten::convolution_backward"] = rule;
}

template <size_t kCount>
void AddProducts(Rules& rules, const std::string_view (&names)[kCount], uint8_t first_factor) {
  for (const std::string_view name : names) {
    WorkRule& rule = rules[std::string(name)];
    rule.kind = WorkKind::kProduct;
    rule.first_factor = first_factor;
  }
}

template <size_t kCount>
void AddUses(Rules& rules, const std::string_view (&names)[kCount], ArgumentUse use) {
  for (const std::string_view name : names) rules[std::string(name)].use = use;
}

const Rules& AllRules() {
  static const auto* all = [] {
    auto* rules = new Rules;
    for (const auto& [name, passes] : kPasses) (*rules)[std::string(name)].passes = passes;
    AddProducts(*rules, kFirstFactorFirst, 0);
    AddProducts(*rules, kFirstFactorSecond, 1);
    AddUses(*rules, kGathering, ArgumentUse::kGathers);
    AddUses(*rules, kScattering, ArgumentUse::kScatters);
    AddUses(*rules, kSkippingFirst, ArgumentUse::kSkipsFirst);
    AddUses(*rules, kSkippingSecond, ArgumentUse::kSkipsSecond);
    AddAttention(*rules);
    AddConvolutions(*rules);
    return rules;
  }();
  return *all;
}

bool IsUnknown(std::string_view name) {
  const auto starts = [name](std::string_view start) {
    return name.substr(0, start.size()) == start;
  };
  if (!starts("aten::") && !starts("prims::")) return true;
  for (const std::string_view start : kUnknownStarts)
    if (starts(start)) return true;
  return false;
}

}  // namespace

const WorkRule& WorkRuleOf(const std::string& name) {
  static const WorkRule kMoving;
  static const WorkRule kUnknown = [] {
    WorkRule rule;
    rule.is_unknown = true;
    return rule;
  }();
  const auto rule = AllRules().find(name);
  if (rule != AllRules().end()) return rule->second;
  return IsUnknown(name) ? kUnknown : kMoving;
}

}  // namespace memtrace::shim
