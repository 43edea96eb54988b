"""The session that a run on Spark needs, and what has to be there before it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chaffinch.errors import MissingExtraError, RunError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ENGINE: Final = "--engine spark"


def start_session(master: str | None = None) -> SparkSession:
    """Return the session that is active, or start one; without a master, that of `spark-submit` or the environment.

    Raises `MissingExtraError` without PySpark, and `UsageError` without Java.
    """
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415  (an optional part)
    except ImportError as error:
        raise MissingExtraError(_ENGINE, "spark") from error
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    check_java()
    builder = SparkSession.builder.appName("chaffinch").config("spark.log.level", "ERROR")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            # What this interpreter has installed, the workers on this machine need too.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        return builder.getOrCreate()
    except Exception as error:
        raise RunError(_ENGINE, f"no Spark session could be started: {_first_line(error)}") from error


def check_java() -> None:
    """Raise `UsageError` if there is no Java to run Spark with."""
    home = os.environ.get("JAVA_HOME")
    found = Path(home, "bin", "java").exists() if home else shutil.which("java") is not None
    if not found:
        where = f"JAVA_HOME is {home}, which has no bin/java" if home else "there is no java on the PATH"
        raise UsageError(
            f"{_ENGINE} needs Java 17 or later, and {where}; on Debian: apt-get install default-jre-headless"
        )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
