// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/frame_rules.h"

#include <algorithm>
#include <array>

#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

// A function of a library: `file` is a part of its path.
struct Place {
  std::string_view file;
  std::string_view function;
};

// The functions in which optimizers make their states, by the names that torch 2.0 to 2.15 and
// bitsandbytes use.
constexpr std::array kStateCreations = {
    Place{"torch/optim/", "_init_group"},
    Place{"torch/optim/", "load_state_dict"},
    Place{"bitsandbytes/optim/", "init_state"},
};

constexpr Place kAttention = {"torch/nn/functional.py", "multi_head_attention_forward"};
constexpr Place kEagerAttention = {"transformers/", "eager_attention_forward"};

bool IsIn(const trace::Frame& frame, std::string_view file) {
  return frame.file.find(file) != std::string::npos;
}

bool IsAt(const trace::Frame& frame, const Place& place) {
  return IsIn(frame, place.file) && BareFunction(frame.function) == place.function;
}

bool IsWithin(const std::vector<trace::Frame>& stack, const Place& place) {
  return std::any_of(stack.begin(), stack.end(),
                     [&place](const trace::Frame& frame) { return IsAt(frame, place); });
}

bool IsSoftmaxOf(const std::vector<trace::Frame>& stack, const Place& caller) {
  constexpr Place kSoftmax = {"torch/nn/functional.py", "softmax"};
  for (size_t i = 0; i + 1 < stack.size(); ++i)
    if (IsAt(stack[i], kSoftmax) && IsAt(stack[i + 1], caller)) return true;
  return false;
}

// True for a comprehension, which has its own frame before Python 3.12 and says nothing without its
// function.
bool IsComprehension(const trace::Frame& frame) {
  constexpr std::array<std::string_view, 4> kNames = {"<listcomp>", "<genexpr>", "<dictcomp>",
                                                      "<setcomp>"};
  const std::string_view function = BareFunction(frame.function);
  return std::find(kNames.begin(), kNames.end(), function) != kNames.end();
}

// Returns the innermost function of torch/optim that has called nothing but torch, or null.
const trace::Frame* CallingOptimizer(const std::vector<trace::Frame>& stack) {
  for (const trace::Frame& frame : stack) {
    if (IsNative(frame) || IsComprehension(frame)) continue;
    if (IsIn(frame, "torch/optim/")) return &frame;
    if (!IsOfTorch(frame)) return nullptr;
  }
  return nullptr;
}

}  // namespace

std::string_view BareFunction(std::string_view function) {
  if (function.find("::") != std::string_view::npos) return function;
  return function.substr(function.rfind('.') + 1);
}

const trace::Frame* InnermostOfPython(const std::vector<trace::Frame>& stack) {
  const auto found = std::find_if(stack.begin(), stack.end(),
                                  [](const trace::Frame& frame) { return !IsNative(frame); });
  return found == stack.end() ? nullptr : &*found;
}

bool IsOfTorch(const trace::Frame& frame) { return ShortFile(frame.file).substr(0, 6) == "torch/"; }

bool IsModuleCall(const trace::Frame& frame) {
  const std::string_view function = BareFunction(frame.function);
  if (IsIn(frame, "torch/nn/modules/module.py"))
    return function == "_call_impl" || function == "_wrapped_call_impl";
  return IsIn(frame, "torch/_dynamo/eval_frame.py");
}

bool IsWithinUsersModule(const std::vector<trace::Frame>& stack) {
  const auto outermost = std::find_if(stack.rbegin(), stack.rend(), IsModuleCall);
  const auto called = std::find_if(outermost, stack.rend(), [](const trace::Frame& frame) {
    return !IsNative(frame) && !IsOfTorch(frame);
  });
  return called != stack.rend() && !IsLibraryFile(called->file);
}

bool MayLoopOverTensors(const trace::Frame& frame) {
  constexpr std::array<std::string_view, 6> kOfOneOperation = {
      "torch/nn/functional.py", "torch/functional.py",        "torch/_tensor.py",
      "torch/overrides.py",     "torch/utils/_contextlib.py", "torch/utils/_device.py"};
  if (!IsOfTorch(frame) || IsNative(frame) || IsModuleCall(frame)) return false;
  return std::none_of(kOfOneOperation.begin(), kOfOneOperation.end(),
                      [&frame](std::string_view file) { return IsIn(frame, file); });
}

bool IsThreadStart(const trace::Frame& frame) {
  return frame.file.ends_with("/threading.py") && BareFunction(frame.function) == "_bootstrap";
}

bool IsForeachUpdate(const std::vector<trace::Frame>& stack) {
  const trace::Frame* frame = CallingOptimizer(stack);
  return frame != nullptr && BareFunction(frame->function).starts_with("_multi_tensor_");
}

bool IsOptimizerStateCreation(const std::vector<trace::Frame>& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return std::any_of(kStateCreations.begin(), kStateCreations.end(),
                       [&frame](const Place& place) { return IsAt(frame, place); });
  });
}

bool IsMeanResizing(const std::vector<trace::Frame>& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return IsIn(frame, "transformers/") && BareFunction(frame.function).starts_with("_init_added_");
  });
}

bool IsWithinTransformers(const std::vector<trace::Frame>& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return IsIn(frame, "transformers/modeling_") || IsIn(frame, "transformers/models/");
  });
}

bool IsVaeDecoding(const std::vector<trace::Frame>& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return IsIn(frame, "diffusers/models/autoencoders/") &&
           BareFunction(frame.function).ends_with("decode");
  });
}

bool IsVideoDecoding(const std::vector<trace::Frame>& stack) {
  return IsWithin(stack, {"autoencoders/autoencoder_kl_temporal_decoder.py", "decode"});
}

bool IsOfVideoPipeline(const std::vector<trace::Frame>& stack) {
  return IsWithin(stack, {"pipelines/stable_video_diffusion/", "decode_latents"});
}

bool IsWithinAutocast(const std::vector<trace::Frame>& stack) {
  return IsWithin(stack, {"torch/amp/autocast_mode.py", "decorate_autocast"});
}

bool IsOfAdapters(const std::vector<trace::Frame>& stack) {
  return std::any_of(stack.begin(), stack.end(),
                     [](const trace::Frame& frame) { return IsIn(frame, "peft/tuners/"); });
}

bool IsGrowingCache(const std::vector<trace::Frame>& stack) {
  const trace::Frame* innermost = InnermostOfPython(stack);
  return innermost != nullptr && IsAt(*innermost, {"transformers/cache_utils.py", "update"});
}

bool IsEvaluationResult(const std::vector<trace::Frame>& stack) {
  constexpr std::array kFunctions = {Place{"transformers/trainer_pt_utils.py", "add"},
                                     Place{"transformers/trainer_pt_utils.py", "nested_concat"}};
  return std::any_of(stack.begin(), stack.end(), [&kFunctions](const trace::Frame& frame) {
    return std::any_of(kFunctions.begin(), kFunctions.end(),
                       [&frame](const Place& place) { return IsAt(frame, place); });
  });
}

bool IsOfAnotherLibrary(const std::vector<trace::Frame>& stack) {
  return !stack.empty() && std::all_of(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return IsNative(frame) && !IsIn(frame, "libtorch") && !IsIn(frame, "libc10");
  });
}

bool IsParallelGather(const std::vector<trace::Frame>& stack) {
  return IsWithin(stack, {"torch/nn/parallel/scatter_gather.py", "gather"});
}

bool IsLoading(const std::vector<trace::Frame>& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return IsIn(frame, "torch/serialization.py") || IsIn(frame, "safetensors/torch.py");
  });
}

bool IsDeepCopy(const std::vector<trace::Frame>& stack) {
  return IsWithin(stack, {"torch/_tensor.py", "__deepcopy__"});
}

bool IsOfSafetensors(const std::vector<trace::Frame>& stack) {
  return std::any_of(stack.begin(), stack.end(),
                     [](const trace::Frame& frame) { return IsIn(frame, "safetensors/torch.py"); });
}

bool IsGathering(const std::vector<trace::Frame>& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return IsIn(frame, "torch/distributed/") || IsIn(frame, "deepspeed/runtime/");
  });
}

bool IsOfDataParallelRanks(const std::vector<trace::Frame>& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return IsIn(frame, "torch/nn/parallel/distributed.py");
  });
}

bool IsWithinAttention(const std::vector<trace::Frame>& stack) {
  return IsWithin(stack, kAttention);
}

bool IsAttentionSoftmax(const std::vector<trace::Frame>& stack) {
  return IsSoftmaxOf(stack, kAttention);
}

bool IsWithinEagerAttention(const std::vector<trace::Frame>& stack) {
  return IsWithin(stack, kEagerAttention);
}

bool IsEagerSoftmax(const std::vector<trace::Frame>& stack) {
  return IsSoftmaxOf(stack, kEagerAttention);
}

bool IsOfFunctionTransform(const std::vector<trace::Frame>& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return IsIn(frame, "torch/_functorch/vmap.py") ||
           IsIn(frame, "torch/_functorch/eager_transforms.py");
  });
}

bool IsActivation(const trace::Frame& frame) {
  constexpr std::array<std::string_view, 12> kFunctions = {
      "celu", "elu",  "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
      "mish", "relu", "relu6",       "rrelu",     "selu",     "silu"};
  return IsIn(frame, "torch/nn/functional.py") &&
         std::find(kFunctions.begin(), kFunctions.end(), BareFunction(frame.function)) !=
             kFunctions.end();
}

bool IsCheckpointed(const std::vector<trace::Frame>& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return IsIn(frame, "torch/utils/checkpoint.py");
  });
}

}  // namespace memtrace::analysis
