"""A small HTTP server that answers as the published bulk API says, in place of a cluster.

It is no OpenSearch: it keeps documents in memory and knows the few calls that are made here. It is strict about what
the API asks for (the content type, an action line and a document line for each update, a newline at the very end,
fields that the mapping has), and it can be told to be busy, to be away, and to refuse documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass
class Cluster:
    """What the server holds, and how it is to behave."""

    indexes: dict[str, dict[str, Any]] = field(default_factory=dict)
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    busy: int = 0
    """So many bulk requests are answered with 429 as a whole."""
    busy_items: int = 0
    """So many documents are answered with 429, each by itself."""
    away: int = 0
    """So many requests are answered with 503."""
    dropped: int = 0
    """So many connections are closed without an answer."""
    refused: str | None = None
    """Documents with this in their content are refused."""
    largest: int = 100_000_000
    """Larger requests are refused."""
    authorization: str | None = None
    requests: list[tuple[str, str, int]] = field(default_factory=list)
    """Method, path, and for bulk requests how many items there were."""

    @property
    def bulk_sizes(self) -> list[int]:
        return [items for _, path, items in self.requests if path == "/_bulk"]


@contextmanager
def running(cluster: Cluster) -> Iterator[str]:
    """Run the server, and give its URL."""

    class Handler(_Handler):
        pass

    Handler.cluster = cluster
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    cluster: Cluster
    protocol_version = "HTTP/1.1"
    timeout = 5

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(200 if urlsplit(self.path).path[1:] in self.cluster.indexes else 404, None)

    def do_GET(self) -> None:
        self._handle()

    def do_PUT(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def _handle(self) -> None:
        cluster = self.cluster
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = unquote(urlsplit(self.path).path)
        name, _, call = path[1:].partition("/")
        if name == "_bulk" or call == "_bulk":
            name, path = ("", path) if name == "_bulk" else (name, "/_bulk")
        items = body.count(b'{"update":') + body.count(b'{"delete":') if path == "/_bulk" else 0
        cluster.requests.append((self.command, path, items))
        if cluster.dropped:
            cluster.dropped -= 1
            self.close_connection = True
        elif cluster.away:
            cluster.away -= 1
            self._answer(503, {"error": {"type": "unavailable", "reason": "no master"}, "status": 503})
        elif cluster.authorization and self.headers.get("Authorization") != cluster.authorization:
            self._answer(401, {"error": {"type": "security_exception", "reason": "who are you?"}, "status": 401})
        elif len(body) > cluster.largest:
            self._answer(413, {"error": {"type": "too_large", "reason": "content too long"}, "status": 413})
        elif path == "/_bulk" and cluster.busy:
            cluster.busy -= 1
            self._answer(429, {"error": {"type": "es_rejected", "reason": "queue is full"}, "status": 429})
        elif path == "/_bulk":
            self._bulk(name, body)
        else:
            self._call(name, call, body)

    def _call(self, name: str, call: str, body: bytes) -> None:
        cluster = self.cluster
        if self.command == "PUT" and not call:
            if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name):
                error = {"type": "invalid_index_name_exception", "reason": f"Invalid index name [{name}]"}
                self._answer(400, {"error": error, "status": 400})
                return
            cluster.indexes[name] = json.loads(body)
            self._answer(200, {"acknowledged": True, "index": name})
        elif name not in cluster.indexes:
            self._answer(404, {"error": {"type": "index_not_found_exception", "reason": "no index"}, "status": 404})
        elif call == "_mapping":
            self._answer(200, {name: {"mappings": cluster.indexes[name].get("mappings", {})}})
        elif call == "_refresh":
            self._answer(200, {"_shards": {"total": 1, "successful": 1, "failed": 0}})
        elif call == "_count":
            self._answer(200, {"count": len(cluster.documents)})
        elif call == "_delete_by_query":
            ((name, value),) = json.loads(body)["query"]["term"].items()
            gone = [key for key, document in cluster.documents.items() if document[name] == value]
            for key in gone:
                del cluster.documents[key]
            self._answer(200, {"deleted": len(gone), "failures": []})
        else:
            self._answer(405, {"error": f"no {self.command} {self.path} here", "status": 405})

    def _bulk(self, name: str, body: bytes) -> None:
        kinds = {"application/x-ndjson", "application/json"}
        if self.headers.get("Content-Type", "").partition(";")[0] not in kinds or not body.endswith(b"\n"):
            error = {"type": "illegal_argument_exception", "reason": "The bulk request must end with a newline [\\n]"}
            self._answer(400, {"error": error, "status": 400})
            return
        lines = iter(body.decode().split("\n")[:-1])
        items = []
        for line in lines:
            ((action, about),) = json.loads(line).items()
            source = json.loads(next(lines)) if action == "update" else {}
            items.append({action: self._item(action, about.get("_index", name), about["_id"], source)})
        errors = any(item["status"] >= 300 for one in items for item in one.values())
        self._answer(200, {"took": 1, "errors": errors, "items": items})

    def _item(self, action: str, index: str, key: str, source: dict[str, Any]) -> dict[str, Any]:
        cluster = self.cluster
        about = {"_index": index, "_id": key}
        if len(key.encode()) > 512:
            return {**about, **_fault(400, "illegal_argument_exception", "id is too long, must be no longer than 512")}
        if cluster.busy_items:
            cluster.busy_items -= 1
            return {**about, **_fault(429, "rejected_execution_exception", "queue is full")}
        before = cluster.documents.get(key)
        if action == "delete":
            cluster.documents.pop(key, None)
            found = before is not None
            return {**about, "status": 200 if found else 404, "result": "deleted" if found else "not_found"}
        document = source["doc"]
        assert source["doc_as_upsert"] is True
        unknown = set(document) - set(cluster.indexes[index]["mappings"]["properties"])
        if unknown or (cluster.refused and cluster.refused in document["content"]):
            fault = _fault(400, "mapper_parsing_exception", "failed to parse")
            fault["error"]["caused_by"] = {"type": "illegal", "reason": "not that word"}
            return {**about, **fault}
        merged = {**(before or {}), **document}
        cluster.documents[key] = merged
        result = "created" if before is None else "noop" if merged == before else "updated"
        return {**about, "status": 201 if before is None else 200, "result": result, "_version": 1}

    def _answer(self, status: int, answer: dict[str, Any] | None) -> None:
        body = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _fault(status: int, kind: str, reason: str) -> dict[str, Any]:
    return {"status": status, "error": {"type": kind, "reason": reason}}
