// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the page with pictures that a person has approved; docs/design/testing.md says how to renew
// them.
import { join } from "node:path";
import { onPage, settled } from "./browser.ts";
import { compare } from "./pictures.ts";
import { pageOf } from "./programs.ts";
import { trainingTrace } from "./training.ts";

// Half a pixel for each CSS pixel: goldens of half a megabyte would be of no more use.
const wide = { viewport: { width: 1200, height: 900 }, deviceScaleFactor: 0.5 };
const settings = {
  light: { ...wide, colorScheme: "light" },
  dark: { ...wide, colorScheme: "dark" },
  narrow: { ...wide, viewport: { width: 400, height: 900 } },
} as const;

for (const [name, setting] of Object.entries(settings)) {
  onPage(
    `the page looks as it did: ${name}`,
    () => pageOf(trainingTrace()),
    async (of) => {
      await of.locator("#map canvas").waitFor();
      // The name of the temporary file differs each time.
      await of.locator("#run, #ticket").evaluateAll((parts) => parts.forEach((of) => of.remove()));
      await of.mouse.move(0, 0);
      await settled(of);
      const seen = await of.screenshot({ fullPage: true, animations: "disabled" });
      compare(seen, join(import.meta.dirname, "looks", `${name}.png`));
    },
    setting,
  );
}
