// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/card_name.h"

#include "messages/message.h"

namespace memtrace::report {

std::string CardName(int32_t card, Side side) {
  switch (side) {
    case Side::kOnly:
      break;
    case Side::kBefore:
      return Message("card $0 before", card);
    case Side::kAfter:
      return Message("card $0 after", card);
    case Side::kBoth:
      return Message("card $0, before and after", card);
  }
  return Message("card $0", card);
}

}  // namespace memtrace::report
