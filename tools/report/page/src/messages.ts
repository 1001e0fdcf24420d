// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Sentences that people read, in the language of the page. docs/design/messages.md says how one is added.

type Value = string | number;

/** Returns the sentence with the values in the places of $0 to $9; $$ is a dollar. */
export function translated(english: string, ...values: readonly Value[]): string {
  return withValues(translations().get(english) ?? english, values);
}

/** Returns the sentence for a count: `one` is the English text for 1. The count is no value by itself. */
export function counted(
  count: number,
  one: string,
  many: string,
  ...values: readonly Value[]
): string {
  return withValues(translations().get(one) ?? (count === 1 ? one : many), values);
}

/** Returns the parts as a list, without empty ones: "a, b". */
export function listed(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(translated(", "));
}

/** The same for parts that may have commas: "a, b; c". */
export function clauses(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(translated("; "));
}

/** Joins sentences; Chinese has no blank after a full stop. */
export function sentences(...parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .join(" ")
    .replaceAll("。 ", "。");
}

function withValues(text: string, values: readonly Value[]): string {
  return text.replace(/\$([0-9$])/g, (_, key: string) =>
    key === "$" ? "$" : String(values[Number(key)]),
  );
}

let known: ReadonlyMap<string, string> | undefined;

/** Reads the template that tools/report/page/page_frame.cc writes; an English page has none. */
function translations(): ReadonlyMap<string, string> {
  if (!known) {
    // Tests without a browser have no document.
    const template =
      globalThis.document?.querySelector<HTMLTemplateElement>("template#translations");
    const texts = JSON.parse(template?.content.textContent || "{}") as Record<string, string>;
    known = new Map(Object.entries(texts));
  }
  return known;
}
