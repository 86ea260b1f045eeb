"""A run as a picture: recall by hits, recall by tokens of context, refusal against loss. Plain SVG."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import log

from firsthand.bench.runs import Run
from firsthand.bench.ways import BM25, OURS, RELEVANCE, VECTORS

_COLOURS = {OURS: "#0b5fa5", RELEVANCE: "#7fb2e5", BM25: "#d1495b", VECTORS: "#66a182"}  # told apart by most eyes
_OTHERS = ("#0b5fa5", "#d1495b", "#66a182")
_WIDTH, _HEIGHT = 360, 260  # of a panel's field
_LEFT, _TOP, _GAP, _BOTTOM = 62, 78, 84, 66
_AT = re.compile(r"(R|any)@(\d+)")
_TOKENS = re.compile(r"R@(\d+)t")
Line = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Panel:
    """One field with its lines."""

    title: str
    across: str  # what the horizontal axis shows
    up: str
    lines: Mapping[str, Line]
    ticks: Sequence[float]
    by_ratio: bool = False  # equal distances are equal ratios


def svg(run: Run) -> str:
    """The picture. Every run has at least one panel."""
    panels = [each for each in (_by_hits(run), _by_tokens(run), _by_refusal(run)) if each.lines]
    width = _LEFT + len(panels) * (_WIDTH + _GAP)
    height = _TOP + _HEIGHT + _BOTTOM
    font = 'font-family="system-ui, sans-serif" font-size="13" fill="#222"'
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="28" font-size="16" font-weight="600">{escape(run.suite)}</text>',
    ]
    for number, panel in enumerate(panels):
        parts.append(f'<g transform="translate({_LEFT + number * (_WIDTH + _GAP)},{_TOP})">')
        parts += _drawn(panel)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


# -- what is drawn ----------------------------------------------------------------------------------------------------


def _by_hits(run: Run) -> Panel:
    lines = {way: _points(figures, _AT) for way, figures in run.ways.items()}
    session = any(name.startswith("any@") for name in run.ways[OURS])
    what, up = ("sessions", "any of the sessions found, %") if session else ("hits", "found of what is expected, %")
    return _panel(f"By {what}", f"first {what}", up, lines)


def _by_tokens(run: Run) -> Panel:
    return _panel(
        "By tokens", "tokens of context", "shown of what is expected, %", {OURS: _points(run.ways[OURS], _TOKENS)}
    )


def _panel(title: str, across: str, up: str, lines: Mapping[str, Line]) -> Panel:
    kept = {way: line for way, line in lines.items() if len(line) > 1}
    ticks = sorted({x for line in kept.values() for x, _ in line})
    return Panel(title, across, up, kept, ticks, by_ratio=True)


def _by_refusal(run: Run) -> Panel:
    lines = {
        f"{standing} (area {each.area:.2f})": [(100 * loss, 100 * refusal) for _, loss, refusal in each.points]
        for standing, each in run.refusals.items()
    }
    return Panel(
        "As the floor rises", "answers lost, %", "questions without an answer refused, %", lines, (0, 25, 50, 75, 100)
    )


def _points(figures: Mapping[str, float], pattern: re.Pattern[str]) -> Line:
    found = ((pattern.fullmatch(name), figure) for name, figure in figures.items())
    return sorted((float(match[match.lastindex or 0]), 100 * figure) for match, figure in found if match)


# -- how it is drawn --------------------------------------------------------------------------------------------------


def _drawn(panel: Panel) -> Iterator[str]:
    yield f'<text x="0" y="-24" font-weight="600">{escape(panel.title)}</text>'
    for figure in range(0, 101, 20):
        y = _up(figure)
        yield f'<line x1="0" x2="{_WIDTH}" y1="{y}" y2="{y}" stroke="#e3e3e3"/>'
        yield f'<text x="-8" y="{y + 4}" text-anchor="end">{figure}</text>'
    for tick in panel.ticks:
        x = _across(panel, tick)
        yield f'<line x1="{x}" x2="{x}" y1="{_HEIGHT}" y2="{_HEIGHT + 5}" stroke="#555"/>'
        yield f'<text x="{x}" y="{_HEIGHT + 20}" text-anchor="middle">{tick:g}</text>'
    yield f'<line x1="0" x2="{_WIDTH}" y1="{_HEIGHT}" y2="{_HEIGHT}" stroke="#555"/>'
    yield f'<text x="{_WIDTH / 2}" y="{_HEIGHT + 42}" text-anchor="middle">{escape(panel.across)}</text>'
    turned = f'text-anchor="middle" transform="rotate(-90,-40,{_HEIGHT / 2})"'
    yield f'<text x="-40" y="{_HEIGHT / 2}" {turned}>{escape(panel.up)}</text>'
    for number, (name, line) in enumerate(panel.lines.items()):
        colour = _COLOURS.get(name, _OTHERS[number % len(_OTHERS)])
        yield from _line(panel, line, colour)
        yield from _label(panel, name, number, colour)


def _line(panel: Panel, line: Line, colour: str) -> Iterator[str]:
    places = " ".join(f"{_across(panel, x)},{_up(y)}" for x, y in line)
    yield f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2.2"/>'
    if panel.by_ratio:
        yield from (f'<circle cx="{_across(panel, x)}" cy="{_up(y)}" r="3.4" fill="{colour}"/>' for x, y in line)


def _label(panel: Panel, name: str, number: int, colour: str) -> Iterator[str]:
    """The names of lines, in the lower right of the field, where curves of this kind leave room."""
    y = _HEIGHT - 14 - 18 * (len(panel.lines) - 1 - number)
    yield f'<rect x="{_WIDTH - 172}" y="{y - 12}" width="172" height="17" fill="#ffffff" fill-opacity="0.8"/>'
    ends = f'x1="{_WIDTH - 168}" x2="{_WIDTH - 146}" y1="{y - 4}" y2="{y - 4}"'
    yield f'<line {ends} stroke="{colour}" stroke-width="2.6"/>'
    yield f'<text x="{_WIDTH - 140}" y="{y}">{escape(name)}</text>'


def _across(panel: Panel, x: float) -> float:
    low, high = panel.ticks[0], panel.ticks[-1]
    if high == low:
        return _WIDTH / 2
    share = log(x / low) / log(high / low) if panel.by_ratio else (x - low) / (high - low)
    return round(_WIDTH * share, 1)


def _up(figure: float) -> float:
    return round(_HEIGHT * (1 - figure / 100), 1)
