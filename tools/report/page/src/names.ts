// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The words that people read for the names in the page's data, as
// tools/report/words/vocabulary_words.h has them.

import { translated } from "./messages.ts";
import type { Phase, Role } from "./vocabulary.ts";

const ROLES: Readonly<Record<Role, string>> = {
  unknown: translated("of unknown role"),
  parameter: translated("parameters"),
  gradient: translated("gradients"),
  optimizer_state: translated("optimizer states"),
  activation: translated("activations"),
  input: translated("inputs"),
  temporary: translated("temporaries"),
  workspace: translated("workspaces"),
  kv_cache: translated("KV cache"),
  comm: translated("communication"),
  buffer: translated("buffers"),
  checkpoint: translated("checkpoint"),
};

const EVIDENCE: Readonly<Record<string, string>> = {
  unknown: translated("unknown"),
  guessed: translated("guessed"),
  inferred: translated("inferred"),
  stated: translated("stated"),
};

type SiteOfNone = "(none)" | "(no stack)" | "(no module)" | `(in ${Exclude<Phase, "other">})`;

/** Names that stand for none. */
const SITES: Readonly<Record<SiteOfNone, string>> = {
  "(none)": translated("(none)"),
  "(no stack)": translated("(no stack)"),
  "(no module)": translated("(no module)"),
  "(in init)": translated("(in init)"),
  "(in forward)": translated("(in forward)"),
  "(in recompute)": translated("(in recompute)"),
  "(in backward)": translated("(in backward)"),
  "(in optimizer)": translated("(in optimizer)"),
  "(in evaluate)": translated("(in evaluate)"),
  "(in generate)": translated("(in generate)"),
};

const wordsIn = (words: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(words, name) ? words[name] : undefined;

/** Returns "optimizer states" for "optimizer_state"; a name that is no role stays as it is. */
export const roleWords = (role: string): string => wordsIn(ROLES, role) ?? role;

export const evidenceWords = (evidence: string): string => wordsIn(EVIDENCE, evidence) ?? evidence;

/** Returns a site, owner or module as it is printed: "(no stack)" in the page's language. */
export const siteWords = (site: string): string => wordsIn(SITES, site) ?? site;
