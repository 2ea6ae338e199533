"""The rendered Kubernetes manifests of a preview: one YAML file per object."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

SUFFIX = ".rendered.yaml"


def write_manifests(folder: Path, resources: Sequence[Mapping[str, Any]]) -> None:
    """Files of an earlier preview go first; nothing else in the folder does. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"*{SUFFIX}"):
        old.unlink()
    for row in resources:
        if not row["type"].startswith("kubernetes:") or not row["inputs"].get("kind"):
            continue
        text = yaml.dump(row["inputs"], Dumper=_Readable, sort_keys=True, allow_unicode=True, width=110)
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{row['inputs']['kind'].lower()}-{row['name']}")
        (folder / f"{name}{SUFFIX}").write_text(text, encoding="utf-8")


class _Readable(yaml.SafeDumper):
    """Text of several lines as a block, the way that people write it."""


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Readable.add_representer(str, _block)
