// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The frontier of fit, in a drawing with its points where the data say that they are.
import { drawn, element } from "#page/dom.ts";
import { FrontierView } from "#page/frontier/view.ts";
import { FRONTIER } from "../support/frontiers.ts";

const figure = element("figure", { class: "frontier" }, [
  element("div", { class: "wide", role: "group", tabindex: 0, "aria-label": "drawing" }, [
    drawn("svg", { role: "img", "aria-label": "Memory against time", viewBox: "0 0 1000 360" }, [
      ...FRONTIER.points.map(({ x, y }) => drawn("circle", { class: "best", cx: x, cy: y, r: 5 })),
    ]),
  ]),
]);
document.getElementById("host")!.append(figure);
new FrontierView(figure, FRONTIER);
