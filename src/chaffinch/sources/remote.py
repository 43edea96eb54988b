"""Files that are not on this machine: `s3://`, `gs://`, `hdfs://`, `https://` and whatever else fsspec knows."""

from __future__ import annotations

import io
import os
import re
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final

from chaffinch.errors import MissingExtraError
from chaffinch.sources.streams import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsspec import AbstractFileSystem

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]+)://")
_EXTRAS: Final = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "hdfs": "hdfs", "http": "http", "https": "http"}
_BUFFER: Final = 1 << 20


def is_remote(path: str) -> bool:
    """Tell whether a path names something on another machine; a file of such a name here is a file."""
    return _SCHEME.match(path) is not None and not os.path.lexists(path)


@contextmanager
def told_as_os_error() -> Iterator[None]:
    """Turn whatever a remote file system raises, which every one does in its own way, into an `OSError`."""
    try:
        yield
    except (OSError, MissingExtraError):
        raise
    except Exception as error:
        raise OSError(reason_of(error)) from error


def file_system(path: str) -> tuple[AbstractFileSystem, str]:
    """Return the file system of a remote path, and the path in it."""
    match = _SCHEME.match(path)
    extra = _EXTRAS.get(match[1].lower() if match else "", "remote")
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415  (an optional part)

        with told_as_os_error():
            found: tuple[AbstractFileSystem, str] = url_to_fs(path)
    except ImportError as error:
        raise MissingExtraError(path, extra) from error
    except OSError as error:
        if isinstance(error.__cause__, ImportError):
            raise MissingExtraError(path, extra) from error
        raise
    return found


def open_remote(path: str) -> IO[bytes]:
    """Open a remote file for reading, or raise `OSError`."""
    system, inner = file_system(path)
    with told_as_os_error():
        return io.BufferedReader(_Remote(system.open(inner, "rb")), _BUFFER)


def is_remote_folder(path: str) -> bool:
    """Tell whether a remote path is a folder; raises `OSError` if nobody can tell."""
    system, inner = file_system(path)
    with told_as_os_error():
        return bool(system.isdir(inner))


def list_remote(path: str) -> list[tuple[str, str, str]]:
    """Return for each file below a remote folder its path, its path below the folder, and a mark of its state.

    The order is that of folders on this machine; hidden files are passed over.
    """
    system, inner = file_system(path)
    root = inner.rstrip("/") + "/"
    found = []
    with told_as_os_error():
        for name, about in system.find(inner, detail=True).items():
            below = name.removeprefix(root)
            if not any(part.startswith(".") for part in below.split("/")):
                found.append((system.unstrip_protocol(name), below, _mark(about)))
    return sorted(found, key=lambda file: file[1].encode("utf-8", "surrogateescape").split(b"/"))


def remote_state(path: str) -> tuple[int, str]:
    """Return the size of a remote file and a mark that changes when the file does."""
    system, inner = file_system(path)
    with told_as_os_error():
        about = system.info(inner)
    return int(about.get("size") or 0), _mark(about)


def upload(local: str, path: str) -> None:
    """Copy a file of this machine to a remote path, where it appears whole."""
    system, inner = file_system(path)
    with told_as_os_error():
        system.put_file(local, inner)


def _mark(about: dict[str, Any]) -> str:
    changed = next((about[key] for key in ("ETag", "etag", "mtime", "LastModified", "updated") if about.get(key)), "")
    return f"{about.get('size')} {changed}"


class _Remote(io.RawIOBase):
    """A remote file that raises nothing but `OSError`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  (any writable buffer)
        with told_as_os_error():
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with told_as_os_error():
            return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
