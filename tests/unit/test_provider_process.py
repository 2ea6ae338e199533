"""The executable: one line with its port, from any directory, and no process left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import provider_pb2_grpc

LAUNCHER = Path(__file__).parents[2] / "rehearsal/provider/bin/pulumi-resource-digitalocean"


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "DOKS_GPU_PYTHON": sys.executable, **more}


@contextmanager
def started(command: list[str], cwd: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, cwd=cwd, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def port_of(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def version_at(port: int) -> str:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        answer = provider_pb2_grpc.ResourceProviderStub(channel).GetPluginInfo(Empty(), wait_for_ready=True)
        return str(answer.version)


def test_it_serves_through_a_link_and_ends_at_sigterm(tmp_path: Path) -> None:
    link = tmp_path / "pulumi-resource-digitalocean"
    link.symlink_to(LAUNCHER)

    with started([str(link), "127.0.0.1:1"], tmp_path) as process:
        assert version_at(port_of(process)) == "4.84.1"
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_it_ends_when_its_engine_is_gone(tmp_path: Path) -> None:
    with started(["sh", "-c", f"{LAUNCHER} & wait"], tmp_path) as engine:
        port = port_of(engine)
        assert version_at(port) == "4.84.1"
        engine.kill()

        assert engine.stdout is not None
        assert engine.stdout.read() == "", "the pipe closes only when the last process that holds it has ended"


def test_a_wrong_poll_interval_is_said_and_nothing_is_served(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(LAUNCHER)],
        cwd=tmp_path,
        env=environment(DOKS_GPU_REHEARSAL_POLL_SECONDS="soon"),
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "DOKS_GPU_REHEARSAL_POLL_SECONDS" in done.stderr


def test_a_folder_of_the_same_name_in_the_working_directory_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "rehearsal").mkdir()
    (tmp_path / "rehearsal/__init__.py").write_text("raise SystemExit('wrong package')")

    with started([str(LAUNCHER)], tmp_path) as process:
        assert port_of(process) > 0
