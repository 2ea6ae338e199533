"""`doks-gpu rehearse`: a whole stack on this machine, from the real engine down to a stand-in for DigitalOcean."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from doks_gpu.errors import DoksGpuError
from rehearsal import views
from rehearsal.session import PROVIDER, Rehearsal, RehearsalSettings
from rehearsal.toolchain import ensure

out = Console(highlight=False)
PROJECT = Path(__file__).parent.parent


class Then(StrEnum):
    """What happens after the stack is up."""

    stay = "stay"
    destroy = "destroy"


def rehearse(
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack to bring up.")] = "dev",
    then: Annotated[
        Then, typer.Option("--then", help="stay: until Ctrl-C. destroy: destroy the stack again and end.")
    ] = Then.stay,
    shell: Annotated[
        bool, typer.Option("--shell", help="Open a shell with kubectl, pulumi and their environment.")
    ] = False,
    provider: Annotated[
        Path,
        typer.Option(
            "--provider",
            help="Executable that serves the DigitalOcean provider.",
            exists=True,
            show_default="the stand-in",
        ),
    ] = PROVIDER,
    map_delay: Annotated[
        float,
        typer.Option("--map-delay", help="Seconds from `priority` being on to DOKS's priority map.", min=0),
    ] = 1.0,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the folder with state and logs.")] = False,
) -> None:
    """Run a stack on this machine: real Pulumi engine, real Kubernetes control plane, a stand-in for DigitalOcean.

    Nothing leaves this machine and nothing costs anything. What is real and what is not: rehearsal/README.md.
    """
    # A shell that starts us in the background leaves SIGINT ignored.
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, _as_interrupt)
    started = time.monotonic()
    toolchain = ensure()
    folder = Path(tempfile.mkdtemp(prefix="doks-gpu-rehearsal-"))
    settings = RehearsalSettings(provider=provider.resolve(), map_delay_seconds=map_delay)
    try:
        with Rehearsal(PROJECT, folder, toolchain, settings) as rehearsal:
            code = _run(rehearsal, stack, then, started=started, shell=shell)
    except KeyboardInterrupt:
        code = 130
    finally:
        if keep:
            out.print(f"Kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    raise typer.Exit(code)


def _run(rehearsal: Rehearsal, stack: str, then: Then, *, started: float, shell: bool) -> int:
    out.print(views.real_and_not())
    rehearsal.init_stack(stack)
    code = _visible(rehearsal, "up", "--stack", stack, "--yes", "--skip-preview")
    out.print(f"\n`up` ended with {code}, {time.monotonic() - started:.0f} s after the start.")
    out.print(views.what_came_up(rehearsal))
    if then is Then.destroy:
        code = _visible(rehearsal, "destroy", "--stack", stack, "--yes", "--skip-preview") or code
        empty = rehearsal.stand_in.cloud.control.is_empty()
        out.print("Nothing is left in the stand-in." if empty else "[red]Something is left in the stand-in.[/]")
        return code if empty else code or 1
    if shell:
        _shell(rehearsal)
        return code
    out.print(views.how_to_look_around(rehearsal, stack))
    try:
        signal.pause()
    except KeyboardInterrupt:
        out.print("\nStopping.")
    return code


def _visible(rehearsal: Rehearsal, *arguments: str) -> int:
    command = [sys.executable, "-m", "doks_gpu.ops.main", *arguments]
    return subprocess.run(  # noqa: S603 - our own command
        command, cwd=rehearsal.workspace.program, env=rehearsal.environment, check=False
    ).returncode


def _shell(rehearsal: Rehearsal) -> None:
    rehearsal.write_kubeconfig()
    program = os.environ.get("SHELL", "/bin/sh")
    out.print("A shell with kubectl, pulumi and doks-gpu for this rehearsal; `exit` ends the rehearsal.")
    subprocess.run(  # noqa: S603 - the user's own shell
        [program], cwd=rehearsal.workspace.program, env=rehearsal.environment, check=False
    )


def _as_interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Prints an error that the user can put right without a traceback."""
    application = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    application.command()(rehearse)
    try:
        application(prog_name="doks-gpu rehearse --")
    except DoksGpuError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
