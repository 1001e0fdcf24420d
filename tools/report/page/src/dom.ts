// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes elements by calls: the page's policy forbids markup in strings, and names come from traces.

/** Attributes, including `class` and `text` (its only text). False leaves an attribute out. */
export type Traits = Readonly<Record<string, string | number | boolean>>;
type Children = readonly (Node | string)[];

function furnish<E extends Element>(made: E, traits: Traits, children: Children): E {
  for (const [name, value] of Object.entries(traits)) {
    if (name === "text") made.textContent = String(value);
    else if (value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  traits: Traits = {},
  children: Children = [],
): HTMLElementTagNameMap[K] {
  return furnish(document.createElement(tag), traits, children);
}

export function drawn<K extends keyof SVGElementTagNameMap>(
  tag: K,
  traits: Traits = {},
  children: Children = [],
): SVGElementTagNameMap[K] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return furnish(made, traits, children);
}

const taken = new Map<string, number>();

/** Returns `stem`, with a number if it is taken: a page of two runs has every view twice. */
export function uniqueId(stem: string): string {
  const count = (taken.get(stem) ?? 0) + 1;
  taken.set(stem, count);
  return count === 1 ? stem : `${stem}-${count}`;
}

/** Returns a button with the label `text`. */
export function button(text: string, act: () => void, traits: Traits = {}): HTMLButtonElement {
  const made = element("button", { type: "button", text, ...traits });
  made.addEventListener("click", act);
  return made;
}

/** Sets the text only if it differs: setting costs layout, and screen readers may read it again. */
export function say(where: Element, text: string): void {
  if (where.textContent !== text) where.textContent = text;
}
