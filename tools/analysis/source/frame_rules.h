// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_FRAME_RULES_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_FRAME_RULES_H_

#include <string_view>
#include <vector>

#include "profiler/trace/events/event.h"

namespace memtrace::analysis {

// All that a report concludes from the functions of a stack. Since 3.11, Python names a function
// with the scope that defines it ("Adam._init_group", "f.<locals>.g"). Before, and always in
// torch's snapshots, that is missing. Rules compare bare names.
//
// Stacks are innermost first.

// Returns the bare name: "Adam._init_group" -> "_init_group"; "f.<locals>.<lambda>" -> "<lambda>".
// Names of C++ stay.
std::string_view BareFunction(std::string_view function);

// True if torch's optimizer requests a temporary of its foreach update (torch/optim/adam.py,
// _multi_tensor_adam).
bool IsForeachUpdate(const std::vector<trace::Frame>& stack);

// True if an optimizer makes its states (_init_group of torch/optim/adam.py and its kin).
bool IsOptimizerStateCreation(const std::vector<trace::Frame>& stack);

// True if transformers' resize_token_embeddings draws new rows from the distribution of the old
// ones, in fp32 copies of the whole matrix (modeling_utils.py, _init_added_*_with_mean);
// mean_resizing=False ends that.
bool IsMeanResizing(const std::vector<trace::Frame>& stack);

// True if a model of transformers requested the memory.
bool IsWithinTransformers(const std::vector<trace::Frame>& stack);

// True if torch.utils.checkpoint ran the code that requested the memory.
bool IsCheckpointed(const std::vector<trace::Frame>& stack);

// True if a transform of torch.func (vmap, grad) ran the code that requested the memory.
bool IsOfFunctionTransform(const std::vector<trace::Frame>& stack);

// True if a function that autocast decorates requested the memory: accelerate decorates a module's
// forward, so that the call of the module itself is not under autocast.
bool IsWithinAutocast(const std::vector<trace::Frame>& stack);

// True if a VAE of diffusers decodes images (diffusers/models/autoencoders).
bool IsVaeDecoding(const std::vector<trace::Frame>& stack);
// True if it decodes the frames of a video, as many at a time as its pipeline or the program says.
bool IsVideoDecoding(const std::vector<trace::Frame>& stack);
// True if the pipeline of stable video diffusion requested the memory.
bool IsOfVideoPipeline(const std::vector<trace::Frame>& stack);

// True if peft made an adapter.
bool IsOfAdapters(const std::vector<trace::Frame>& stack);

// True if a cache of transformers joined what it has and what is new.
bool IsGrowingCache(const std::vector<trace::Frame>& stack);

// True if transformers' Trainer joins the predictions of an evaluation.
bool IsEvaluationResult(const std::vector<trace::Frame>& stack);

// True if code that is not torch's called the driver itself, as NCCL does: the stack is native and
// has none of torch's libraries in it.
bool IsOfAnotherLibrary(const std::vector<trace::Frame>& stack);

// True if DataParallel gathers outputs of all cards on one.
bool IsParallelGather(const std::vector<trace::Frame>& stack);

// True if torch.load or safetensors made it.
bool IsLoading(const std::vector<trace::Frame>& stack);

// True if copy.deepcopy copies a tensor.
bool IsDeepCopy(const std::vector<trace::Frame>& stack);

// True if safetensors made it (load_file, safe_open).
bool IsOfSafetensors(const std::vector<trace::Frame>& stack);

// True if torch's or DeepSpeed's distributed code, which gathers a state dict, made it.
bool IsGathering(const std::vector<trace::Frame>& stack);

// True if torch's DistributedDataParallel made it.
bool IsOfDataParallelRanks(const std::vector<trace::Frame>& stack);

// True if it is an activation of torch.nn.functional that can be done in place (`inplace=True`).
bool IsActivation(const trace::Frame& frame);

// Returns the innermost frame that is not native code's; null if there is none.
const trace::Frame* InnermostOfPython(const std::vector<trace::Frame>& stack);

// True if the frame is a call of a module, or of code that torch.compile made of a function.
bool IsModuleCall(const trace::Frame& frame);

// True if the outermost module that was called is the user's own, whatever runs within it.
bool IsWithinUsersModule(const std::vector<trace::Frame>& stack);

// True if the frame is of torch's own Python code, is no call of a module, and may do the same for
// each of many tensors, as optimizers, clipping, loading and moving do. Functional forms of an
// operation, methods of tensors and decorators do not.
bool MayLoopOverTensors(const trace::Frame& frame);

// True if a thread that Python started begins with the frame.
bool IsThreadStart(const trace::Frame& frame);

// True if the frame's file is torch's.
bool IsOfTorch(const trace::Frame& frame);

// True within nn.MultiheadAttention's path that computes attention weights, for any code of it.
bool IsWithinAttention(const std::vector<trace::Frame>& stack);

// True if it is the softmax of that path, which makes the attention weights.
bool IsAttentionSoftmax(const std::vector<trace::Frame>& stack);

// The same for the attention that models of transformers compute step by step
// (attn_implementation="eager").
bool IsWithinEagerAttention(const std::vector<trace::Frame>& stack);
bool IsEagerSoftmax(const std::vector<trace::Frame>& stack);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_FRAME_RULES_H_
