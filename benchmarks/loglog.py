"""A picture of growth: both axes by ratio, so that a straight line is a power and a flat one is no growth at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import ceil, floor, log10

_WIDTH, _HEIGHT, _LEFT, _TOP = 460, 300, 70, 50
_COLOURS = ("#0b5fa5", "#d1495b", "#66a182", "#8a6fb0")
Line = Sequence[tuple[float, float]]


def svg(title: str, across: str, up: str, lines: Mapping[str, Line]) -> str:
    """The picture of these lines; every figure must be above zero."""
    xs = [x for line in lines.values() for x, _ in line]
    ys = [y for line in lines.values() for _, y in line]
    field = (floor(log10(min(xs))), ceil(log10(max(xs))), floor(log10(min(ys))), ceil(log10(max(ys))))
    width, height = _LEFT + _WIDTH + 110, _TOP + _HEIGHT + 60
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    letters = 'font-family="system-ui, sans-serif" font-size="13" fill="#222"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {letters}>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="28" font-size="16" font-weight="600">{escape(title)}</text>',
        f'<g transform="translate({_LEFT},{_TOP})">',
    ]
    parts += _grid(field)
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT + 44}" text-anchor="middle">{escape(across)}</text>')
    parts.append(
        f'<text x="-48" y="{_HEIGHT / 2}" text-anchor="middle" transform="rotate(-90,-48,{_HEIGHT / 2})">'
        f"{escape(up)}</text>"
    )
    for (name, line), colour in zip(lines.items(), _COLOURS, strict=False):
        parts += _drawn(name, [_place(field, x, y) for x, y in sorted(line)], colour)
    return "\n".join([*parts, "</g></svg>"]) + "\n"


def _grid(field: tuple[int, int, int, int]) -> Iterator[str]:
    low, high, bottom, top = field
    for power in range(low, high + 1):
        x, _ = _place(field, 10.0**power, 10.0**bottom)
        yield f'<line x1="{x}" x2="{x}" y1="0" y2="{_HEIGHT}" stroke="#e3e3e3"/>'
        yield f'<text x="{x}" y="{_HEIGHT + 20}" text-anchor="middle">{10**power:,}</text>'
    for power in range(bottom, top + 1):
        _, y = _place(field, 10.0**low, 10.0**power)
        yield f'<line x1="0" x2="{_WIDTH}" y1="{y}" y2="{y}" stroke="#e3e3e3"/>'
        yield f'<text x="-8" y="{y + 4}" text-anchor="end">{10.0**power:g}</text>'


def _drawn(name: str, places: Sequence[tuple[float, float]], colour: str) -> Iterator[str]:
    points = " ".join(f"{x},{y}" for x, y in places)
    yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.2"/>'
    yield from (f'<circle cx="{x}" cy="{y}" r="3.4" fill="{colour}"/>' for x, y in places)
    x, y = places[-1]
    yield f'<text x="{x + 10}" y="{y + 4}" fill="{colour}">{escape(name)}</text>'


def _place(field: tuple[int, int, int, int], x: float, y: float) -> tuple[float, float]:
    low, high, bottom, top = field
    across = (log10(x) - low) / max(1, high - low)
    up = (log10(y) - bottom) / max(1, top - bottom)
    return round(_WIDTH * across, 1), round(_HEIGHT * (1 - up), 1)
