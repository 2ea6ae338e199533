"""The account as the command reads it, against the stand-in's API on loopback."""

from collections.abc import Iterator

import pytest

from doks_gpu.cloud import Cloud, CloudError, token_from_environment
from doks_gpu.errors import RefusedError
from rehearsal.digitalocean import Failure, StandIn, StandInSettings

TOKEN = "canary-" + "for-the-account"
H100X8 = "gpu-h100x8-640gb"


@pytest.fixture(scope="module")
def stand_in() -> Iterator[StandIn]:
    with StandIn(StandInSettings(droplet_limit=33), token=TOKEN) as server:
        yield server


@pytest.fixture
def cloud(stand_in: StandIn) -> Cloud:
    return Cloud(TOKEN, stand_in.url)


def test_sizes_come_with_their_price_and_the_memory_of_one_gpu(cloud: Cloud) -> None:
    size = cloud.facts("doks-gpu", "dev").sizes[H100X8]
    assert (size.gpu_count, size.gpu_memory_gib, f"{size.usd_per_hour:.2f}") == (8, 80, "35.28")


def test_the_droplet_limit_is_the_accounts(cloud: Cloud) -> None:
    assert cloud.facts("doks-gpu", "dev").droplet_limit == 33


def test_versions_come_newest_first(cloud: Cloud) -> None:
    assert cloud.facts("doks-gpu", "dev").versions[0] == "1.36.3-do.0"


def test_a_pool_that_is_gone_can_be_deleted_again(cloud: Cloud) -> None:
    unknown = "11111111-2222-4333-8444-555555555555"
    cloud.delete_pool(unknown, unknown)


def test_a_wrong_token_is_told_in_words(stand_in: StandIn) -> None:
    with pytest.raises(CloudError, match="still valid"):
        Cloud("wrong", stand_in.url).facts("doks-gpu", "dev")


def test_an_error_never_repeats_the_token(stand_in: StandIn, cloud: Cloud) -> None:
    echo = Failure(method="GET", path="/v2/account", status=403, message=f"token {TOKEN} lacks a scope", times=1)
    stand_in.cloud.failures.add(echo)
    with pytest.raises(CloudError) as caught:
        cloud.facts("doks-gpu", "dev")
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("endpoint", ["http://api.example.com", "ftp://127.0.0.1", "api.example.com"])
def test_the_token_never_travels_unencrypted(endpoint: str) -> None:
    with pytest.raises(RefusedError, match="https"):
        Cloud(TOKEN, endpoint)


@pytest.mark.parametrize("value", ["", None])
def test_an_empty_token_is_none(value: str | None) -> None:
    environment = {} if value is None else {"DIGITALOCEAN_TOKEN": value}
    assert token_from_environment(environment) is None
