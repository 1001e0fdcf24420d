// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/changes/untried.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/remedies/catalogue.h"

namespace memtrace::fit {
namespace {

using remedies::Id;
using testing::ElementsAre;
using testing::Field;

analysis::Remedy RemedyOf(Id id) {
  const remedies::Row& row = remedies::RowOf(id);
  analysis::Remedy remedy;
  remedy.name = row.name;
  remedy.change = row.change;
  remedy.hook = row.hook;
  remedy.effort = row.effort;
  return remedy;
}

TEST(UntriedTest, OnlyEditsOfTheScriptAreListed) {
  EXPECT_THAT(EditsAmong({RemedyOf(Id::kOurAllocator), RemedyOf(Id::kDoNotKeep),
                          RemedyOf(Id::kCheckpointing), RemedyOf(Id::kNoGraph),
                          RemedyOf(Id::kNoOtherProcess), RemedyOf(Id::kLargerCard)}),
              ElementsAre(Field(&UntriedRemedy::name, "do not keep"),
                          Field(&UntriedRemedy::name, "no graph")));
}

TEST(UntriedTest, PackageIsMissingIfATrialSaysSo) {
  const analysis::Annotations annotations = {{"fit.missing.lora", "peft"}};
  EXPECT_EQ(MissingPackage({.name = "LoRA", .change = "", .cost = "", .hook = "lora"}, annotations),
            "peft");
  EXPECT_EQ(MissingPackage({.name = "loop", .change = "", .cost = "", .hook = "loop"}, annotations),
            "");
  EXPECT_EQ(MissingPackage({.name = "expandable", .change = "", .cost = ""}, annotations), "");
}

}  // namespace
}  // namespace memtrace::fit
