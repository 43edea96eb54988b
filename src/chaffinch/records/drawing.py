"""Template graphs drawn as SVG: slots in columns from left to right, the weight of an edge as its width."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from chaffinch.records.graph import TemplateGraph

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 150, 38, 60, 22, 20
_LONGEST: Final = 20


def draw(graph: TemplateGraph, title: str) -> str:
    """Return the graph as SVG. Optional slots have a dashed frame, constants a double one, template is grey."""
    column = _columns(graph)
    rows: dict[int, int] = {}
    place: dict[int, tuple[int, int]] = {}
    for slot in sorted(range(len(graph.slots)), key=lambda slot: (column[slot], graph.rank[slot])):
        row = rows.get(column[slot], 0)
        rows[column[slot]] = row + 1
        place[slot] = (_MARGIN + column[slot] * (_WIDTH + _ACROSS), 2 * _MARGIN + row * (_HEIGHT + _DOWN))
    width = max((left + _WIDTH for left, _ in place.values()), default=_WIDTH) + _MARGIN
    height = max((top + _HEIGHT for _, top in place.values()), default=_HEIGHT) + _MARGIN
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [
        head + ' font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_MARGIN}" y="{_MARGIN}">{escape(title)}, {graph.records} records</text>',
    ]
    parts += [
        _edge(place[tail], place[head], weight / max(graph.records, 1)) for (tail, head), weight in graph.edges.items()
    ]
    parts += [_vertex(graph, slot, place[slot]) for slot in range(len(graph.slots))]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _columns(graph: TemplateGraph) -> list[int]:
    """Return for each slot the length of the longest path to it."""
    column = [0] * len(graph.slots)
    for tail, head in sorted(graph.edges, key=lambda edge: graph.rank[edge[0]]):
        column[head] = max(column[head], column[tail] + 1)
    return column


def _edge(tail: tuple[int, int], head: tuple[int, int], share: float) -> str:
    left, right = (tail[0] + _WIDTH, tail[1] + _HEIGHT / 2), (head[0], head[1] + _HEIGHT / 2)
    middle = (left[0] + right[0]) / 2
    return (
        f'<path d="M{left[0]} {left[1]}C{middle} {left[1]} {middle} {right[1]} {right[0]} {right[1]}" fill="none" '
        f'stroke="#555" stroke-width="{0.5 + 3.5 * share:.2f}"><title>{share:.0%}</title></path>'
    )


def _vertex(graph: TemplateGraph, slot: int, place: tuple[int, int]) -> str:
    found = graph.slots[slot]
    name = found.name if len(found.name) <= _LONGEST else found.name[: _LONGEST - 1] + "…"
    dashes = ' stroke-dasharray="5 3"' if graph.is_optional(slot) else ""
    fill = ("#fff4d6" if found.constant else "#e2f0ff") if found.data else "#eeeeee"
    note = f"{found.type.lower()}, {found.support} of {graph.records}" if found.data else "template"
    left, top = place
    return (
        f'<g><rect x="{left}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" rx="5" fill="{fill}" stroke="#333"'
        f"{dashes}/>"
        f'<text x="{left + 8}" y="{top + 16}">{escape(name)}</text>'
        f'<text x="{left + 8}" y="{top + 31}" font-size="10" fill="#555">{escape(note)}</text></g>'
    )
