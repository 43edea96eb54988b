"""What an index says of itself, in a file beside the engine's: its format, and how its pages were made."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from chaffinch.errors import OutputError, SearchIndexError, UsageError
from chaffinch.methods import DEFAULT_FAVOR, METHODS, make_method, options_of, read_favor
from chaffinch.sinks.files import PartFile
from chaffinch.sites import SITE_CHOICES
from chaffinch.version import VERSION

if TYPE_CHECKING:
    from chaffinch.methods import AnyMethod, Favor
    from chaffinch.sites import SiteBy

FORMAT: Final = 2
"""Raised whenever an index of an earlier version cannot be read any more."""

NAME: Final = "chaffinch-index.json"
ENGINE_NAME: Final = "meta.json"
"""The engine's own list of what is committed; it is there from the first moment on."""

NO_REMOVAL: Final = "none"
"""Stands for the method of an index whose pages are whole."""


@dataclass(frozen=True, slots=True)
class About:
    """How the pages of an index were made. All pages of an index are made alike."""

    method: str
    options: dict[str, str]
    favor: str
    site_by: SiteBy
    stem: str | None
    """The language whose stemmer was used."""
    one_pass: bool = False
    """Whether template was found while the index was built, in the builder's own table."""

    @classmethod
    def of(
        cls, method: AnyMethod | None, favor: Favor, site_by: SiteBy, stem: str | None, *, one_pass: bool = False
    ) -> About:
        """Describe pages made by a method, or whole pages."""
        if method is None:
            return cls(NO_REMOVAL, {}, str(DEFAULT_FAVOR), site_by, stem)
        return cls(method.name, options_of(method), str(favor), site_by, stem, one_pass)

    @property
    def whole(self) -> bool:
        """Whether pages have kept their template."""
        return self.method == NO_REMOVAL

    def make_method(self) -> AnyMethod | None:
        """Return the method, or None if pages are whole."""
        return None if self.whole else make_method(self.method, self.options)

    def check_same(self, path: str, asked: About) -> None:
        """Raise `UsageError` unless pages made as `asked` may be added."""
        for name, kept in asdict(self).items():
            if getattr(asked, name) != kept:
                built = f"{path} was built with {name.replace('_', ' ')} {_shown(kept)}"
                raise UsageError(
                    f"{built}, not {_shown(getattr(asked, name))}: all its pages must be made alike; leave the option "
                    "out, or build another index"
                )


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={text}" for key, text in value.items()) or "none"
    return str(value).lower()


def is_index(path: str) -> bool:
    """Tell whether there is an index, finished or begun."""
    return Path(path, NAME).is_file()


def read_about(path: str) -> About:
    """Read what an index says of itself, or raise `SearchIndexError`."""
    try:
        found = json.loads(Path(path, NAME).read_text("utf-8"))
        return about_from(path, found)
    except (FileNotFoundError, NotADirectoryError):
        raise SearchIndexError(path, _why_no_index(Path(path))) from None
    except OSError as error:
        raise SearchIndexError(path, f"cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, KeyError, TypeError, StopIteration, UsageError) as error:
        raise SearchIndexError(path, f"is damaged ({NAME} is unreadable)") from error


def about_from(path: str, found: dict[str, Any]) -> About:
    """Return what an index says of itself, read from what was written; raises what such readings raise."""
    if found["format"] != FORMAT:
        raise SearchIndexError(
            path,
            f"has format {found['format']}, written by Chaffinch {found.get('chaffinch', 'of an unknown version')}; "
            f"this is Chaffinch {VERSION}, which reads format {FORMAT}: build the index anew",
        )
    about = About(
        method=str(found["method"]),
        options={str(key): str(value) for key, value in found["options"].items()},
        favor=str(read_favor(found["favor"])),
        site_by=next(choice for choice in SITE_CHOICES if choice == found["site_by"]),
        stem=found["stem"],
        one_pass=bool(found["one_pass"]),
    )
    if not about.whole and about.method not in METHODS:
        raise SearchIndexError(path, f"was built by method {about.method}, which this Chaffinch does not have")
    return about


def _why_no_index(path: Path) -> str:
    if not path.exists():
        return "there is no such index"
    if path.is_dir():
        return "is no search index of Chaffinch"
    return "is a file; an index is a folder"


def write_about(path: str, about: About) -> None:
    """Begin an index: make its folder and say how its pages are made."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        strangers = sorted(name for name in os.listdir(folder) if not name.startswith(f".{NAME}."))  # noqa: PTH208
    except OSError as error:
        raise SearchIndexError(path, f"cannot be made: {(error.strerror or str(error)).lower()}") from error
    if strangers:
        raise SearchIndexError(path, f"is a folder of something else (it holds {strangers[0]}); name a new folder")
    text = json.dumps({"format": FORMAT, "chaffinch": VERSION, **asdict(about)}, indent=2)
    try:
        part = PartFile(str(folder / NAME))
        part.file.write(f"{text}\n".encode())
        part.commit()
    except (OSError, OutputError) as error:
        raise SearchIndexError(path, f"cannot be written: {error}") from error
