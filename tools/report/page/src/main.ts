// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds the views to the page, whose text is complete without a script.
import { listAllSections } from "./contents.ts";
import { openData, openRun } from "./data/open.ts";
import { aligned } from "./diff/aligned.ts";
import { addDiffViews } from "./diff/views.ts";
import { element } from "./dom.ts";
import type { Frontier } from "./frontier/frontier.ts";
import { FrontierView } from "./frontier/view.ts";
import { translated } from "./messages.ts";
import type { Run } from "./model.ts";
import type { Ranks } from "./ranks/ranks.ts";
import { RanksView } from "./ranks/view.ts";
import { addCopyButton } from "./ticket.ts";
import { addViews } from "./views.ts";

const ticket = document.getElementById("ticket");
if (ticket) addCopyButton(ticket);

/** Returns the data of a template; null if there is none. */
function packed(id: string): string | null {
  return document.querySelector<HTMLTemplateElement>(`template#${id}`)?.content.textContent ?? null;
}

/** Writes below `place` why there are no views. */
function orSay(adding: Promise<void>, place: Element): void {
  adding.catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    const text = translated(
      "The interactive views cannot be shown: $0. The text of the page is complete.",
      why,
    );
    place.after(element("p", { class: "note", role: "alert", text }));
  });
}

/** Opens both sides; two moments of one run share their data. */
async function openBoth(before: string, after: string | null): Promise<[Run, Run]> {
  const run = await openRun(before);
  const other = after === null ? { ...run, told: run.after ?? run.told } : await openRun(after);
  return aligned(run, other);
}

const data = packed("data");
const picture = document.querySelector("figure.usage");
if (data !== null && picture && ticket)
  orSay(
    openRun(data)
      .then((run) => addViews(run, picture, ticket))
      .then(listAllSections),
    picture,
  );

const before = packed("data-before");
const rows = document.getElementById("rows");
const pictures = document.getElementById("runs");
if (before !== null && rows && pictures)
  orSay(
    openBoth(before, packed("data-after"))
      .then((runs) => addDiffViews(runs, rows, pictures))
      .then(listAllSections),
    pictures,
  );

const ranks = packed("ranks-data");
const drawing = document.querySelector<HTMLElement>("figure.ranks");
if (ranks !== null && drawing)
  orSay(
    openData(ranks)
      .then((data) => void new RanksView(drawing, data as Ranks))
      .then(listAllSections),
    drawing,
  );

const frontier = packed("frontier-data");
const runs = document.querySelector<HTMLElement>("figure.frontier");
if (frontier !== null && runs)
  orSay(
    openData(frontier)
      .then((data) => void new FrontierView(runs, data as Frontier))
      .then(listAllSections),
    runs,
  );
