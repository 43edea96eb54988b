"""An index on a cluster: the same entries, written to OpenSearch or Elasticsearch through the bulk API.

The official client of OpenSearch does the talking. A page is sent as an update that adds what is not there: the
cluster compares, and tells whether a page was added, replaced or not changed at all.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

from xxhash import xxh3_64_intdigest

from chaffinch.errors import MissingExtraError, SearchIndexError, UsageError
from chaffinch.index.about import FORMAT, About, about_from
from chaffinch.index.fields import DEFAULT_FIELDS, STEMMERS, check_stem
from chaffinch.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from opensearchpy import OpenSearch

    from chaffinch.index.writer import Change, Entry

PASSWORD_VARIABLE: Final = "OPENSEARCH_PASSWORD"  # noqa: S105  (the name of a variable)
"""Where the password is taken from if the URL names a user alone: command lines are seen by others."""

_CHUNK_PAGES: Final = 500
_CHUNK_BYTES: Final = 10_000_000
"""A request has so much, at most; clusters refuse requests beyond 100 MB, and like them far smaller."""
_WAITS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds between the attempts when the cluster cannot be reached or says that it is not available."""
_REFUSALS: Final = 7
"""How often what was refused for want of room is sent again: after a second, then each time after twice as long."""
_TIMEOUT: Final = 60
_GONE: Final = frozenset({502, 503, 504})
_LONGEST_ID: Final = 512
"""In bytes, as the cluster has it."""

_CHANGES: Final[dict[str, Change]] = {"created": "added", "updated": "replaced", "noop": "unchanged"}


@dataclass(frozen=True, slots=True)
class Sent:
    """What the cluster said of a page."""

    key: str
    change: Change | None
    reason: str = ""
    """Why the page was refused, if it was."""


class RemoteIndex:
    """An index on a cluster, named by a URL such as `https://user@host:9200/pages`."""

    def __init__(self, url: str) -> None:
        """Make ready for talking to the cluster; nothing is sent yet."""
        try:
            from opensearchpy import OpenSearch, Transport  # noqa: PLC0415  (an extra)
        except ImportError as error:
            raise MissingExtraError("--to opensearch", "opensearch") from error
        host, self._name, self.path = _read_url(url)
        self._client: OpenSearch = OpenSearch(
            hosts=[host], transport_class=_patient(Transport), max_retries=0, timeout=_TIMEOUT
        )

    def read_about(self) -> About | None:
        """Return how the pages of the index were made, or None if there is no such index."""
        with self._told():
            if not self._client.indices.exists(index=self._name):
                return None
            mappings = self._client.indices.get_mapping(index=self._name)
        try:
            (mapping,) = mappings.values()
            found = mapping["mappings"]["_meta"]["chaffinch"]
        except (KeyError, TypeError, ValueError):
            raise SearchIndexError(self.path, "is an index of something else; name a new one") from None
        try:
            return about_from(self.path, found)
        except (KeyError, TypeError, ValueError, StopIteration, UsageError) as error:
            raise SearchIndexError(self.path, "is damaged (what it says of itself is unreadable)") from error

    def open(self, about: About) -> None:
        """Begin the index, or see that its pages were made as these will be."""
        check_stem(about.stem)
        found = self.read_about()
        if found is not None:
            found.check_same(self.path, about)
            return
        with self._told():
            self._client.indices.create(index=self._name, body=_index_body(about))

    def send(self, entries: Iterable[Entry]) -> Iterator[Sent]:
        """Send entries, and yield what became of each; the next are asked for when the cluster has taken the last."""
        return self._bulk({"_op_type": "update", "_id": _id_of(entry.key), **_update(entry)} for entry in entries)

    def delete(self, keys: Iterable[str]) -> Iterator[Sent]:
        """Delete pages by URL (or source)."""
        return self._bulk({"_op_type": "delete", "_id": _id_of(key)} for key in keys)

    def delete_site(self, site: str) -> int:
        """Delete all pages of a site, and return how many there were."""
        with self._told():
            self._client.indices.refresh(index=self._name)
            answer = self._client.delete_by_query(
                index=self._name, body={"query": {"term": {"site": site}}}, params={"conflicts": "proceed"}
            )
            return int(answer["deleted"])

    def pages(self) -> int:
        """Return how many pages the index holds, all that was sent included."""
        with self._told():
            self._client.indices.refresh(index=self._name)
            return int(self._client.count(index=self._name)["count"])

    def _bulk(self, actions: Iterable[dict[str, Any]]) -> Iterator[Sent]:
        from opensearchpy import helpers  # noqa: PLC0415  (an extra)

        with self._told():
            for _, item in helpers.streaming_bulk(
                self._client,
                actions,
                chunk_size=_CHUNK_PAGES,
                max_chunk_bytes=_CHUNK_BYTES,
                raise_on_error=False,
                raise_on_exception=False,
                max_retries=_REFUSALS,
                initial_backoff=1,
                index=self._name,
            ):
                (answer,) = item.values()
                fault = answer.get("exception")
                if fault is not None and not _is_of_pages(fault.status_code):
                    raise fault
                yield _sent(answer)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn whatever the client raises into a `SearchIndexError`."""
        from opensearchpy import OpenSearchException, TransportError  # noqa: PLC0415  (an extra)

        try:
            yield
        except TransportError as error:
            if error.status_code == "N/A":
                raise SearchIndexError(self.path, f"cannot be reached: {_first_line(str(error.info))}") from error
            raise SearchIndexError(self.path, f"the cluster answered {error.status_code}: {error.error}") from error
        except OpenSearchException as error:
            raise SearchIndexError(self.path, f"no use of the cluster can be made: {error}") from error


def _read_url(url: str) -> tuple[str, str, str]:
    """Return the cluster's URL, the name of the index, and the URL as it may be shown to anybody."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError(f"{url!r} is no URL") from None
    prefix, _, name = parts.path.rstrip("/").rpartition("/")
    if parts.scheme not in {"http", "https"} or not parts.hostname or not name:
        raise UsageError(f"--to opensearch takes http(s)://HOST:PORT/INDEX, not {_shown(url)!r}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    bare = host if port is None else f"{host}:{port}"
    user = ""
    if parts.username:
        password = parts.password if parts.password is not None else os.environ.get(PASSWORD_VARIABLE, "")
        user = f"{parts.username}:{password}@"
    cluster = urlunsplit((parts.scheme, f"{user}{bare}", prefix, "", ""))
    return cluster, name, urlunsplit((parts.scheme, bare, f"{prefix}/{name}", "", ""))


def _shown(url: str) -> str:
    """Return what is left of a URL without user and password."""
    scheme, slashes, rest = url.rpartition("//")
    return f"{scheme}{slashes}{rest.rpartition('@')[2]}"


def _patient(transport: type[Any]) -> type[Any]:
    """Return the client's transport, but waiting for a cluster that is away for a moment, as on a restart."""

    class Patient(transport):  # type: ignore[misc]
        def perform_request(self, *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
            from opensearchpy import ConnectionError as Unreachable  # noqa: PLC0415  (an extra)
            from opensearchpy import TransportError  # noqa: PLC0415

            for wait in _WAITS:
                try:
                    return super().perform_request(*arguments, **keywords)
                except TransportError as error:
                    if not isinstance(error, Unreachable) and error.status_code not in _GONE:
                        raise
                time.sleep(wait)
            return super().perform_request(*arguments, **keywords)

    return Patient


def _is_of_pages(status: int | str) -> bool:
    """Tell whether a request failed for what was in it, such as its size, rather than for the cluster's state."""
    return status in {400, 413, 429}


def _sent(answer: dict[str, Any]) -> Sent:
    result, key = str(answer.get("result")), str(answer["_id"])
    change = _CHANGES.get(result)
    if change is not None or result == "deleted":
        return Sent(key, change)
    if result == "not_found":
        return Sent(key, None, "is not in the index")
    error = answer.get("error")
    if isinstance(error, dict):
        cause = error.get("caused_by", {}).get("reason")
        error = f"{error.get('reason')}" + (f" ({cause})" if cause else "")
    return Sent(key, None, f"was refused with {answer.get('status')}: {_first_line(str(error))}")


def _first_line(text: str) -> str:
    return text.splitlines()[0][:300] if text else "no reason given"


def _id_of(key: str) -> str:
    """Return the name of a page as the cluster takes it."""
    encoded = key.encode()
    if len(encoded) <= _LONGEST_ID:
        return key
    return f"{encoded[: _LONGEST_ID - 17].decode(errors='ignore')}#{xxh3_64_intdigest(encoded):016x}"


def _update(entry: Entry) -> dict[str, Any]:
    # Every field is sent, also those without a value: an update leaves alone what it does not name.
    return {"_source": {"doc": asdict(entry), "doc_as_upsert": True}}


def _index_body(about: About) -> dict[str, Any]:
    """Return the settings and fields of a new index. Template is not searched unless a query names it."""
    filters = ["cjk_width", "lowercase", "cjk_bigram"]
    analysis: dict[str, Any] = {}
    if about.stem is not None:
        analysis["filter"] = {"stem": {"type": "stemmer", "language": STEMMERS[about.stem]}}
        filters.append("stem")
    analysis["analyzer"] = {"words": {"type": "custom", "tokenizer": "standard", "filter": filters}}
    words = {"type": "text", "analyzer": "words"}
    exact = {"type": "keyword", "ignore_above": 8000}
    return {
        "settings": {"index": {"query": {"default_field": list(DEFAULT_FIELDS)}}, "analysis": analysis},
        "mappings": {
            "dynamic": "strict",
            "_meta": {"chaffinch": {"format": FORMAT, "chaffinch": VERSION, **asdict(about)}},
            "properties": {
                "source": exact,
                "url": {**words, "fields": {"exact": exact}},
                "site": {"type": "keyword"},
                "title": words,
                "author": words,
                "date": {"type": "date", "format": "yyyy-MM-dd"},
                "language": {"type": "keyword"},
                "description": words,
                "headings": words,
                "content": words,
                "template": words,
            },
        },
    }
