// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/frame_marks.h"

#include <algorithm>
#include <array>

#include "tools/analysis/source/frame_rules.h"
#include "tools/interchange/snapshot_frame.h"

namespace memtrace::interchange {
namespace {

using Mark = FrameMark;

// `file` is a part of the path, or all of its end if it ends in ".py"; an empty function matches
// any.
struct Rule {
  std::string_view file;
  std::string_view function;
  Mark mark;
};

// The first rule that matches counts. The names are those that torch 2.0 to 2.15 share, and other
// libraries' own.
constexpr std::array kPythonRules = {
    Rule{"torch/nn/modules/module.py", "_call_impl", Mark::kModuleCall},
    Rule{"torch/nn/modules/module.py", "zero_grad", Mark::kZeroGrad},
    Rule{"torch/nn/modules/module.py", "_apply", Mark::kModelBuilding},
    Rule{"torch/nn/modules/module.py", "_load_from_state_dict", Mark::kModelBuilding},
    Rule{"torch/nn/modules/", "__init__", Mark::kModelBuilding},
    Rule{"torch/autograd/graph.py", "_engine_run_backward", Mark::kBackward},
    Rule{"torch/autograd/__init__.py", "backward", Mark::kBackward},
    Rule{"torch/autograd/__init__.py", "grad", Mark::kBackward},
    Rule{"torch/autograd/function.py", "apply", Mark::kBackwardIfRoot},
    Rule{"torch/utils/checkpoint.py", "unpack_hook", Mark::kRecomputation},
    Rule{"torch/utils/checkpoint.py", "recompute_fn", Mark::kRecomputation},
    Rule{"torch/utils/checkpoint.py", "backward", Mark::kRecomputation},
    Rule{"deepspeed/runtime/activation_checkpointing/", "backward", Mark::kRecomputation},
    Rule{"torch/utils/_contextlib.py", "decorate_context", Mark::kNoGrad},
    Rule{"torch/optim/lr_scheduler.py", "", Mark::kPython},
    Rule{"torch/optim/swa_utils.py", "", Mark::kPython},
    Rule{"torch/optim/", "_init_group", Mark::kOptimizerState},
    Rule{"torch/optim/", "load_state_dict", Mark::kOptimizerState},
    Rule{"torch/optim/", "zero_grad", Mark::kZeroGrad},
    Rule{"torch/optim/", "__init__", Mark::kPython},
    Rule{"torch/optim/", "", Mark::kOptimizer},
    Rule{"apex/optimizers/", "step", Mark::kOptimizer},
    Rule{"bitsandbytes/optim/", "init_state", Mark::kOptimizerState},
    Rule{"bitsandbytes/optim/", "step", Mark::kOptimizer},
    Rule{"deepspeed/ops/adam/", "step", Mark::kOptimizer},
    Rule{"deepspeed/runtime/zero/", "step", Mark::kOptimizer},
    Rule{"transformers/optimization.py", "step", Mark::kOptimizer},
    Rule{"transformers/cache_utils.py", "", Mark::kKvCache},
    Rule{"vllm/", "_allocate_kv_cache", Mark::kKvCache},
    Rule{"vllm/", "_allocate_kv_cache_tensors", Mark::kKvCache},
    Rule{"sglang/srt/mem_cache/", "_create_buffers", Mark::kKvCache},
    Rule{"transformers/generation/utils.py", "generate", Mark::kGenerate},
    Rule{"transformers/modeling_utils.py", "from_pretrained", Mark::kModelBuilding},
    Rule{"transformers/pytorch_utils.py", "__init__", Mark::kModelBuilding},
    Rule{"diffusers/models/modeling_utils.py", "from_pretrained", Mark::kModelBuilding},
    Rule{"accelerate/utils/modeling.py", "set_module_tensor_to_device", Mark::kModelBuilding},
    Rule{"safetensors/torch.py", "load_file", Mark::kModelBuilding},
    Rule{"vllm/model_executor/", "create_weights", Mark::kModelBuilding},
    Rule{"vllm/model_executor/model_loader/", "", Mark::kModelBuilding},
    Rule{"", "<module>", Mark::kProgram},
    Rule{"<frozen runpy>", "", Mark::kProgram},
    Rule{"/runpy.py", "_run_module_as_main", Mark::kProgram},
    Rule{"threading.py", "_bootstrap", Mark::kProgram},
};

// In C++ only the function counts, whatever its file.
constexpr std::array kNativeRules = {
    Rule{"", "torch::autograd::Engine::", Mark::kBackward},
    Rule{"", "at::cuda::getNewWorkspace", Mark::kWorkspace},
    Rule{"", "at::cuda::getNewCUDABlasLtWorkspace", Mark::kWorkspace},
    Rule{"", "at::cuda::getCUDABlasLtWorkspace", Mark::kWorkspace},
    Rule{"", "getCUDABlasWorkspace", Mark::kWorkspace},
};

bool IsIn(std::string_view file, std::string_view part) {
  return part.ends_with(".py") ? file.ends_with(part) : file.find(part) != std::string_view::npos;
}

}  // namespace

FrameMark MarkOf(std::string_view file, std::string_view function) {
  if (!IsPythonFile(file)) {
    const auto* const rule = std::find_if(
        kNativeRules.begin(), kNativeRules.end(),
        [function](const Rule& known) { return function.starts_with(known.function); });
    return rule == kNativeRules.end() ? Mark::kNative : rule->mark;
  }
  const std::string_view bare = analysis::BareFunction(function);
  const auto* const rule =
      std::find_if(kPythonRules.begin(), kPythonRules.end(), [&](const Rule& known) {
        return (known.function.empty() || known.function == bare) && IsIn(file, known.file);
      });
  return rule == kPythonRules.end() ? Mark::kPython : rule->mark;
}

}  // namespace memtrace::interchange
