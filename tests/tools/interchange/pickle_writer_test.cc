// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/pickle_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace memtrace::interchange {
namespace {

// Returns the bytes between the protocol's number and the full stop.
template <typename Write>
std::string Pickled(const Write& write) {
  TextSink sink;
  PickleWriter pickle(sink);
  write(pickle);
  pickle.Finish();
  const std::string& text = sink.text();
  return text.substr(2, text.size() - 3);
}

TEST(PickleWriterTest, IntegersTakeTheirShortestForm) {
  const auto number = [](uint64_t value) {
    return Pickled([value](PickleWriter& pickle) { pickle.Unsigned(value); });
  };
  EXPECT_EQ(number(255), "K\xff");
  EXPECT_EQ(number(256), std::string("M\x00\x01", 3));
  EXPECT_EQ(number(0x7fffffff), "J\xff\xff\xff\x7f");
  EXPECT_EQ(number(0x80000000), std::string("\x8a\x05\x00\x00\x00\x80\x00", 7));
  EXPECT_EQ(number(0x7f0000000000), std::string("\x8a\x06\x00\x00\x00\x00\x00\x7f", 8));
  EXPECT_EQ(number(~uint64_t{0}), std::string("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00", 11));
}

TEST(PickleWriterTest, NegativeNumbersKeepTheirSign) {
  EXPECT_EQ(Pickled([](PickleWriter& pickle) { pickle.Integer(-1); }),
            "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\xff");
}

TEST(PickleWriterTest, TextIsWrittenOnceAndRecalled) {
  EXPECT_EQ(Pickled([](PickleWriter& pickle) {
              pickle.BeginList();
              for (int i = 0; i < 2; ++i) {
                pickle.Item();
                pickle.Text("ab");
              }
              pickle.EndList();
            }),
            std::string("](X\x02\x00\x00\x00"
                        "abq\x00h\x00"
                        "e",
                        14));
}

}  // namespace
}  // namespace memtrace::interchange
