// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules at the limits of their inputs. test_function_names.py tests recordings of real programs.
#include "tools/analysis/source/frame_rules.h"

#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

const std::string kAdam = "/venv/lib/python3.11/site-packages/torch/optim/adam.py";
const std::string kTensor = "/venv/lib/python3.11/site-packages/torch/_tensor.py";

TEST(FrameRulesTest, BareFunctionIsTheLastPartOfAQualifiedName) {
  EXPECT_EQ(BareFunction("Adam._init_group"), "_init_group");
  EXPECT_EQ(BareFunction("_init_group"), "_init_group");
  EXPECT_EQ(BareFunction("context_decorator.<locals>.decorate_context"), "decorate_context");
  EXPECT_EQ(BareFunction("step.<locals>.<lambda>"), "<lambda>");
  EXPECT_EQ(BareFunction("<module>"), "<module>");
  EXPECT_EQ(BareFunction(""), "");
}

TEST(FrameRulesTest, CppNamesAreUnchanged) {
  EXPECT_EQ(BareFunction("at::_ops::mm::call(at::Tensor const&, ...)"),
            "at::_ops::mm::call(at::Tensor const&, ...)");
}

TEST(FrameRulesTest, ComprehensionOfAForeachUpdateBelongsToIt) {
  EXPECT_TRUE(IsForeachUpdate({{kAdam, "<listcomp>", 791}, {kAdam, "_multi_tensor_adam", 790}}));
  EXPECT_TRUE(IsForeachUpdate({{kAdam, "_multi_tensor_adam.<locals>.<listcomp>", 791},
                               {kAdam, "_multi_tensor_adam", 790}}));
}

TEST(FrameRulesTest, TorchCalledByAForeachUpdateBelongsToIt) {
  EXPECT_TRUE(IsForeachUpdate({{kTensor, "Tensor.sqrt", 1}, {kAdam, "_multi_tensor_adam", 790}}));
}

TEST(FrameRulesTest, UserCodeWithinAForeachUpdateIsNotPartOfIt) {
  EXPECT_FALSE(
      IsForeachUpdate({{"/home/ada/hook.py", "hook", 3}, {kAdam, "_multi_tensor_adam", 790}}));
  EXPECT_FALSE(IsForeachUpdate({{"/home/ada/adam.py", "_multi_tensor_adam", 3}}));
}

TEST(FrameRulesTest, UserFunctionsWithTorchsNamesAreIgnored) {
  EXPECT_FALSE(IsOptimizerStateCreation({{"/home/ada/train.py", "Mine._init_group", 3}}));
  EXPECT_FALSE(IsMeanResizing({{"/home/ada/train.py", "_init_added_rows", 3}}));
}

TEST(FrameRulesTest, BitsandbytesStateCreationIsRecognised) {
  const std::string file = "/venv/lib/python3.11/site-packages/bitsandbytes/optim/optimizer.py";
  EXPECT_TRUE(IsOptimizerStateCreation({{file, "Optimizer2State.init_state", 470}}));
  EXPECT_FALSE(IsOptimizerStateCreation({{file, "Optimizer8bit.step", 290}}));
}

TEST(FrameRulesTest, ModuleAroundAModelOfALibraryIsTheUsers) {
  const trace::Frame call = {"/v/site-packages/torch/nn/modules/module.py", "Module._call_impl", 9};
  const trace::Frame model = {"/v/site-packages/transformers/models/bert/modeling_bert.py",
                              "BertModel.forward", 1};
  const trace::Frame own = {"/home/ada/model.py", "Scorer.forward", 5};
  const trace::Frame script = {"/home/ada/train.py", "<module>", 3};
  const trace::Frame parallel = {"/v/site-packages/torch/nn/parallel/distributed.py",
                                 "DistributedDataParallel.forward", 7};
  EXPECT_TRUE(IsWithinUsersModule({model, call, own, call, script}));
  EXPECT_FALSE(IsWithinUsersModule({model, call, script}));
  EXPECT_FALSE(IsWithinUsersModule({model, call, parallel, call, script}));
  EXPECT_FALSE(IsWithinUsersModule({script}));
}

TEST(FrameRulesTest, UserFoldersAreNotTransformersModels) {
  EXPECT_TRUE(IsWithinTransformers(
      {{"/v/site-packages/transformers/models/llama/modeling_llama.py", "LlamaMLP.forward", 1}}));
  EXPECT_FALSE(IsWithinTransformers({{"/home/ada/transformers_try/train.py", "step", 1}}));
}

TEST(FrameRulesTest, OnlySoftmaxWithinTorchsAttentionIsAttentionWeights) {
  const std::string file = "/venv/lib/python3.11/site-packages/torch/nn/functional.py";
  EXPECT_TRUE(
      IsAttentionSoftmax({{file, "softmax", 2140}, {file, "multi_head_attention_forward", 6400}}));
  EXPECT_FALSE(IsAttentionSoftmax({{file, "multi_head_attention_forward", 6400}}));
  EXPECT_FALSE(IsAttentionSoftmax({{file, "softmax", 2140}, {"/home/ada/train.py", "step", 3}}));
}

TEST(FrameRulesTest, OnlyTheVaesOwnFunctionsAreVaeDecoding) {
  const std::string vae = "/v/site-packages/diffusers/models/autoencoders/autoencoder_kl.py";
  EXPECT_TRUE(IsVaeDecoding({{vae, "AutoencoderKL._decode", 1}, {vae, "AutoencoderKL.decode", 2}}));
  EXPECT_FALSE(IsVaeDecoding({{vae, "AutoencoderKL.encode", 1}}));
  EXPECT_FALSE(
      IsVaeDecoding({{"/v/site-packages/diffusers/pipelines/sd.py", "decode_latents", 1}}));
}

TEST(FrameRulesTest, TransformersCacheGrowsOnlyInUpdate) {
  const std::string cache = "/v/site-packages/transformers/cache_utils.py";
  EXPECT_TRUE(IsGrowingCache({{cache, "DynamicLayer.update", 136}}));
  EXPECT_FALSE(IsGrowingCache({{cache, "StaticLayer.lazy_initialization", 423}}));
  EXPECT_FALSE(IsGrowingCache({{"/home/ada/cache_utils.py", "update", 3}}));
}

}  // namespace
}  // namespace memtrace::analysis
