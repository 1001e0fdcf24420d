// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// One of two runs or moments that are compared.

import type { Missing } from "../holders/held.ts";
import type { Run } from "../model.ts";
import type { Store } from "../state.ts";

export interface Side {
  readonly name: "before" | "after";
  readonly run: Run;
  readonly store: Store;
  readonly missing: Missing;
}
