// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the rules with operations that were timed on an H100 (the rows of
// tests/gpu/recordings/h100-80gb/op_times.jsonl of that name).
#include "interpose/torch/step_time/time_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interpose/simulated_card/spec/card_profile.h"

namespace memtrace::shim {
namespace {

const CardTimes& H100() { return card::FindCardProfile("h100-80gb")->times; }

// Matches microseconds of at most so many percent more or less.
auto Within(double percent, double measured) {
  return testing::AllOf(testing::Gt(measured * (1 - percent / 100)),
                        testing::Lt(measured * (1 + percent / 100)));
}

Work Product(NumberForm form, double rows, double columns, double inner, double element_bytes) {
  Work work;
  work.kind = WorkKind::kProduct;
  work.form = form;
  work.operations = 2 * rows * columns * inner;
  work.bytes = element_bytes * (rows * inner + inner * columns + rows * columns);
  return work;
}

TEST(TimeRulesTest, ProductsAreBoundByOperationsOrBytes) {
  const Work large = Product(NumberForm::kBfloat16, 2048, 14336, 4096, 2);
  EXPECT_THAT(MicrosecondsOf(large, H100()), Within(5, 308.01));
  const Work vector = Product(NumberForm::kBfloat16, 1, 8192, 8192, 2);
  EXPECT_THAT(MicrosecondsOf(vector, H100()), Within(5, 49.46));
  const Work wide = Product(NumberForm::kFloat32, 4096, 4096, 4096, 4);
  EXPECT_THAT(MicrosecondsOf(wide, H100()), Within(5, 2679.26));
}

TEST(TimeRulesTest, ProductWithUnalignedRowsIsSlow) {
  Work words = Product(NumberForm::kBfloat16, 8192, 50257, 768, 2);
  words.is_aligned = false;
  EXPECT_THAT(MicrosecondsOf(words, H100()), Within(5, 4985.03));
}

// Returns causal attention with 64 heads of 128, as it was timed.
Work Attention(AttentionKernel kernel, double length) {
  Work work;
  work.kind = WorkKind::kAttention;
  work.form = NumberForm::kBfloat16;
  work.kernel = kernel;
  work.length = length;
  work.operations = 2 * 64 * length * length * 128;
  return work;
}

TEST(TimeRulesTest, AttentionDependsOnItsKernelAndLength) {
  EXPECT_THAT(MicrosecondsOf(Attention(AttentionKernel::kFlash, 8192), H100()), Within(5, 3335.29));
  EXPECT_THAT(MicrosecondsOf(Attention(AttentionKernel::kEfficient, 2048), H100()),
              Within(5, 490.97));
  Work small = Attention(AttentionKernel::kCudnn, 2048);
  EXPECT_THAT(MicrosecondsOf(small, H100()), Within(5, 145.74));
  small.head = 64;
  EXPECT_THAT(MicrosecondsOf(small, H100()), Within(5, 145.74 / 0.7));  // assumed
}

TEST(TimeRulesTest, OneRowOfAttentionReadsKeysAndValues) {
  Work token = Attention(AttentionKernel::kFlash, 1);
  token.bytes = 64 << 20;
  EXPECT_THAT(MicrosecondsOf(token, H100()), Within(30, (64 << 20) / 2.95e6));
}

TEST(TimeRulesTest, OtherKernelsAreBoundByBytes) {
  Work add;
  add.bytes = 2.0 * 2 * 268435456;
  EXPECT_THAT(MicrosecondsOf(add, H100()), Within(5, 359.62));
  Work cast;
  cast.bytes = 6.0 * 8192 * 4096;
  cast.passes = 1.53;
  EXPECT_THAT(MicrosecondsOf(cast, H100()), Within(5, 106.24));
}

TEST(TimeRulesTest, PinnedCopiesUseTheWholeBus) {
  Work copy;
  copy.kind = WorkKind::kToHost;
  copy.bytes = 256 << 20;
  const double pageable = MicrosecondsOf(copy, H100());
  copy.is_pinned = true;
  EXPECT_GT(pageable, 3 * MicrosecondsOf(copy, H100()));
}

TEST(TimeRulesTest, OtherCardsAreInProportionToTheirDataSheets) {
  const card::CardProfile* h200 = card::FindCardProfile("h200");
  EXPECT_EQ(h200->times_origin.source, card::FigureSource::kAssumed);
  EXPECT_EQ(h200->times.is_measured, 0u);
  EXPECT_DOUBLE_EQ(h200->times.bfloat16, H100().bfloat16);
  EXPECT_DOUBLE_EQ(h200->times.memory, H100().memory * 4800 / 3350);
  EXPECT_DOUBLE_EQ(h200->times.pageable_to_card, H100().pageable_to_card);
  EXPECT_EQ(H100().is_measured, 1u);
}

}  // namespace
}  // namespace memtrace::shim
