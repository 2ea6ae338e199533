"""`python -m rehearsal.digitalocean`: the stand-in alone, without control planes behind its clusters."""

import signal
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer
import yaml
from pydantic import ValidationError

from doks_gpu.errors import DoksGpuError, RefusedError
from rehearsal.digitalocean import Clock, StandIn, StandInSettings


def serve(
    port: Annotated[int, typer.Option("--port", "-p", help="Loopback port; 0 takes a free one.", min=0, max=65535)] = 0,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="File with the token that clients must send.", exists=True)
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option("--settings", help="YAML file with settings (GET /admin/settings shows all).", exists=True),
    ] = None,
    scale: Annotated[
        float, typer.Option("--clock-scale", help="Seconds on its clock per real second; 0 stands still.", min=0)
    ] = 1.0,
) -> None:
    """Serve DigitalOcean's API on loopback until Ctrl-C. Its own side is under /admin (see /docs)."""
    token = token_file.read_text(encoding="utf-8").strip() if token_file else None
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    signal.signal(signal.SIGINT, lambda *_: ended.set())
    with StandIn(_settings(settings), token=token, clock=Clock(scale), port=port) as stand_in:
        sys.stdout.write(f"DIGITALOCEAN_API_URL={stand_in.url}\n")
        if token is None:
            sys.stdout.write(f"DIGITALOCEAN_TOKEN={stand_in.token}\n")
        sys.stdout.flush()
        ended.wait()


def _settings(path: Path | None) -> StandInSettings:
    if path is None:
        return StandInSettings()
    try:
        return StandInSettings.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
    except (ValidationError, yaml.YAMLError) as error:
        raise RefusedError(f"{path}: {error}") from error


def main() -> None:
    """Prints an error that the user can put right without a traceback."""
    application = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    application.command()(serve)
    try:
        application(prog_name="python -m rehearsal.digitalocean")
    except DoksGpuError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
