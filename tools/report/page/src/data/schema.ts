// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The JSON that tools/report/page/page_data.cc writes (docs/reference/page.md, "The data").

import type { GroupingName } from "../model.ts";
import type { Numbers } from "./columns.ts";

export interface PiecesText {
  born: Numbers;
  let_go: Numbers;
  gone: Numbers;
  address: Numbers;
  bytes: Numbers;
  slack: Numbers;
  origin: Numbers;
}

export interface RangesText {
  address: Numbers;
  bytes: Numbers;
  from: Numbers;
  until: Numbers;
}

export interface FailuresText {
  event: Numbers;
  requested: Numbers;
  allocated: Numbers;
  obtainable: Numbers;
  stack: Numbers;
}

export interface OriginsText {
  role: Numbers;
  evidence: Numbers;
  owner: Numbers;
  path: Numbers;
  module: Numbers;
  group: Numbers;
  site: Numbers;
  phase: Numbers;
  stack: Numbers;
  stream: Numbers;
  pool: Numbers;
}

export interface CardText {
  index: number;
  bytes: number | null;
  columns: {
    first: Numbers;
    least: Numbers;
    most: Numbers;
    most_event: Numbers;
    reserved: Numbers;
  };
  levels: { events: number; least: Numbers; most: Numbers };
  groupings: {
    name: GroupingName;
    keys: { name: number; bytes: Numbers }[];
    rest: Numbers;
  }[];
  least_bytes: number;
  exact: [number, number][];
  pieces: PiecesText;
  mapped: RangesText;
  reserved: RangesText;
  failures: FailuresText;
  peak: { event: number; bytes: number };
}

export interface PageText {
  schema: string;
  file: string;
  events: number;
  last_ns: number;
  told: { card: number; event: number };
  after: { card: number; event: number } | null;
  clock: { event: Numbers; us: Numbers };
  steps: { event: Numbers; number: Numbers };
  phases: { event: Numbers; name: Numbers };
  cards: CardText[];
  origins: OriginsText;
  stacks: { names: string[]; parent: Numbers; frame: Numbers; user: Numbers };
  texts: string[];
}
