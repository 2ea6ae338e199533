"""The autoscaler's priority map as the program registers it."""

from tests.graph.conftest import Build

TEXT = """\
100:
  - "^<id of batch-spot>$"
  - "^<id of inference-amd>$"
50:
  - "^<id of batch-fallback>$"
1:
  - ".*"
"""


def test_the_map_names_every_pool_at_the_level_of_its_rank(build: Build) -> None:
    assert build().inputs("priorities-map")["data"] == {"priorities": TEXT}


def test_only_the_text_is_ours(build: Build) -> None:
    assert build().inputs("priorities-map")["metadata"].keys() == {"name", "namespace", "annotations"}


def test_the_patch_takes_the_text_over(build: Build) -> None:
    metadata = build().inputs("priorities-map")["metadata"]
    assert metadata["annotations"] == {"pulumi.com/patchForce": "true"}


def test_the_map_outlives_the_stack(build: Build) -> None:
    assert build().options("priorities-map")["retainOnDelete"] is True


def test_a_pool_that_cannot_be_made_does_not_stop_the_map(build: Build) -> None:
    assert build().resources["priorities-map"]["dependencies"] == [], "the engine skips dependants of a failed pool"


def test_a_configured_priority_is_used(build: Build) -> None:
    text = build("fleets.batch.tiers[1].priority=70").inputs("priorities-map")["data"]["priorities"]
    assert '70:\n  - "^<id of batch-fallback>$"' in text
