"""Style sheet of the page: light and dark, wide screens, phones, paper.

Contrast (WCAG 2.2): text at least 4.5 to 1, marks at least 3 to 1 on the page's ground in both
themes; a test counts it.
"""

from __future__ import annotations

LIGHT = {
    "ground": "#ffffff",
    "panel": "#f3f5f7",
    "ink": "#1b2026",
    "quiet": "#55606c",
    "line": "#d5dae0",
    "link": "#0b5cad",
    "rest": "#d5dae0",
    "plain": "#0b5cad",
    "safe": "#00796b",
    "unsafe": "#b45309",
    "by-hand": "#86328f",
}
DARK = {
    "ground": "#14171b",
    "panel": "#1e2329",
    "ink": "#e8ebee",
    "quiet": "#a3adb8",
    "line": "#39414a",
    "link": "#7cb7f5",
    "rest": "#39414a",
    "plain": "#7cb7f5",
    "safe": "#43c2ae",
    "unsafe": "#f0a24a",
    "by-hand": "#d992e0",
}

_RULES = """
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system,
  "Segoe UI", Roboto, "Helvetica Neue", sans-serif; -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p, ul, dl { margin: .5rem 0; max-width: 44rem; }
a { color: var(--link); }
code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.quiet, caption { color: var(--quiet); font-size: .875rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr));
  gap: .75rem; margin: 1.25rem 0; max-width: none; }
.figures > div { background: var(--panel); border-radius: .5rem; padding: .75rem .9rem; }
.figures dt { color: var(--quiet); font-size: .875rem; }
.figures dd { margin: 0; }
.figures .big { font-size: 1.6rem; font-weight: 600; line-height: 1.3;
  font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; margin: .75rem 0; width: 100%; }
caption { text-align: left; padding: 0 0 .25rem; }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .5rem .4rem 0; text-align: left;
  vertical-align: top; }
thead th { color: var(--quiet); font-size: .8125rem; font-weight: 600; vertical-align: bottom;
  overflow-wrap: normal; }
tbody th { font-weight: 400; }
.number { text-align: right; font-variant-numeric: tabular-nums; padding-left: 1rem;
  padding-right: 0; width: 1%; }
th.number { white-space: nowrap; }
th details { margin: 0; }
details { margin: .5rem 0; }
summary { color: var(--link); cursor: pointer; padding: .15rem 0; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
details ul { padding-left: 1.1rem; }
.plain { list-style: none; padding: 0; }
.plain > li { border-top: 1px solid var(--line); padding: .6rem 0; }
.next { background: var(--panel); border-radius: .5rem; padding: .5rem .9rem; }
svg { display: block; overflow: visible; }
.bar { margin: .25rem 0 .1rem; }
.swatch { display: inline-block; vertical-align: -1px; margin-right: .3rem; }
.patterns { position: absolute; }
.chart { margin: .5rem 0; }
.chart text { fill: var(--ink); font-size: 13px; }
.chart .tick { fill: var(--quiet); font-size: 12px; }
.grid { stroke: var(--line); }
.axis { stroke: var(--quiet); }
rect { shape-rendering: crispEdges; }
.mark-safe { fill: var(--safe); }
.mark-unsafe { fill: url(#fill-unsafe); }
.mark-by-hand { fill: url(#fill-by-hand); }
.mark-plain { fill: var(--plain); }
.mark-rest { fill: var(--rest); }
.ground-unsafe { fill: var(--unsafe); }
.ground-by-hand { fill: var(--by-hand); }
.stripe { stroke: var(--ground); stroke-width: 2; }
.dot { fill: var(--ground); }
@media (max-width: 30rem) {
  h1, .figures .big { font-size: 1.35rem; }
  table { font-size: .9rem; }
      thead th { font-size: .75rem; }
}
@media print {
  body { max-width: none; padding: 0; }
  nav { display: none; }
  h2, h3, caption { break-after: avoid; }
  tr, li, .figures > div, .chart { break-inside: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .mark-safe, .ground-unsafe, .ground-by-hand, .bar, .swatch { print-color-adjust: exact; }
}
"""


def style_sheet() -> str:
    """Return the style sheet. Paper is always light."""
    return "".join(
        [
            f":root {{ color-scheme: light dark; {_variables(LIGHT)} }}\n",
            "@media screen and (prefers-color-scheme: dark) {\n",
            f":root {{ {_variables(DARK)} }}\n}}",
            _RULES,
        ]
    )


def _variables(colors: dict[str, str]) -> str:
    return " ".join(f"--{name}: {color};" for name, color in colors.items())
