"""The provider's HTTP client: token, retries as go-retryablehttp makes them, errors as godo words them."""

import socket
from collections.abc import Mapping

import pytest

from rehearsal.digitalocean.server import StandIn
from rehearsal.provider import configuration
from rehearsal.provider.api import Api, Body, HttpSender, Reply
from rehearsal.provider.errors import ApiError, ApiUnreachableError, ProviderError
from rehearsal.provider.waiting import Patience, poll_seconds
from tests.unit.provider_harness import StillClock

ORIGIN = "http://api.test"
BUSY = Reply(503, {"message": "busy"})


class Answers:
    """Gives the prepared answers in turn; an exception among them is raised."""

    def __init__(self, *answers: Reply | ApiUnreachableError) -> None:
        self.left = list(answers)
        self.headers: list[Mapping[str, str]] = []

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: Body | None) -> Reply:
        del method, url, body
        self.headers.append(headers)
        answer = self.left.pop(0)
        if isinstance(answer, ApiUnreachableError):
            raise answer
        return answer


def api(answers: Answers, clock: StillClock, **environment: str) -> Api:
    settings = configuration.configuration(
        {}, {"DIGITALOCEAN_API_URL": f"{ORIGIN}/", "DIGITALOCEAN_TOKEN": "t0ken", **environment}
    )
    return Api(settings, answers, Patience(clock))


def test_the_token_travels_as_a_bearer() -> None:
    answers = Answers(Reply(200))

    api(answers, StillClock()).get("/v2/account")

    assert answers.headers[0]["Authorization"] == "Bearer t0ken"


def test_a_busy_api_is_asked_five_times_with_doubling_waits() -> None:
    clock = StillClock()

    with pytest.raises(ApiError, match=r"POST http://api\.test/x: 503 busy; giving up after 5 attempt\(s\)"):
        api(Answers(*[BUSY] * 5), clock).call("POST", "/x", {})

    assert clock.slept == [1, 2, 4, 8]


def test_waits_end_at_the_maximum_and_follow_the_environment() -> None:
    clock = StillClock()
    answers = Answers(BUSY, BUSY, BUSY, Reply(200, {"done": True}))

    api(answers, clock, DIGITALOCEAN_HTTP_RETRY_WAIT_MIN="0.5", DIGITALOCEAN_HTTP_RETRY_WAIT_MAX="1").get("/x")

    assert clock.slept == [0.5, 1, 1]


def test_the_api_says_when_to_come_back() -> None:
    clock = StillClock()

    api(Answers(Reply(429, {}, {"Retry-After": "7"}), Reply(200)), clock).get("/x")

    assert clock.slept == [7]


def test_no_retry_when_the_environment_says_so() -> None:
    with pytest.raises(ApiError, match="429"):
        api(Answers(Reply(429)), StillClock(), DIGITALOCEAN_HTTP_RETRY_MAX="0").get("/x")


@pytest.mark.parametrize("status", [400, 401, 404, 422, 501])
def test_other_errors_are_final_at_once(status: int) -> None:
    clock = StillClock()

    with pytest.raises(ApiError, match=f"GET http://api.test/x: {status} no") as caught:
        api(Answers(Reply(status, {"message": "no"})), clock).get("/x")

    assert caught.value.status == status
    assert clock.slept == []


def test_a_lost_connection_is_tried_again() -> None:
    clock = StillClock()

    assert api(Answers(ApiUnreachableError("gone"), Reply(200, {"ok": 1})), clock).get("/x") == {"ok": 1}
    assert clock.slept == [1]


def test_a_dead_api_ends_in_its_own_error() -> None:
    with pytest.raises(ApiUnreachableError, match="gone"):
        api(Answers(*[ApiUnreachableError("gone")] * 5), StillClock()).get("/x")


def test_a_rate_limit_spaces_requests() -> None:
    clock = StillClock()
    slow = api(Answers(Reply(200), Reply(200), Reply(200)), clock, DIGITALOCEAN_REQUESTS_PER_SECOND="2")

    for _ in range(3):
        slow.get("/x")

    assert clock.slept == [0.5, 0.5]


def test_configuration_wins_over_the_environment() -> None:
    settings = configuration.configuration(
        {"token": "mine", "httpRetryMax": "2"},
        {"DIGITALOCEAN_TOKEN": "theirs", "DIGITALOCEAN_HTTP_RETRY_MAX": "9"},
    )

    assert (settings.token, settings.retry_max) == ("mine", 2)


def test_the_second_token_variable_is_read_when_the_first_is_missing() -> None:
    assert configuration.configuration({}, {"DIGITALOCEAN_ACCESS_TOKEN": "old"}).token == "old"


def test_the_token_does_not_show_itself() -> None:
    assert "t0ken" not in repr(configuration.configuration({"token": "t0ken"}, {}))


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon"])
def test_a_poll_interval_must_be_a_positive_number(text: str) -> None:
    with pytest.raises(ProviderError, match="DOKS_GPU_REHEARSAL_POLL_SECONDS"):
        poll_seconds({"DOKS_GPU_REHEARSAL_POLL_SECONDS": text})


@pytest.mark.parametrize(("environment", "seconds"), [({}, 10), ({"DOKS_GPU_REHEARSAL_POLL_SECONDS": "0.2"}, 0.2)])
def test_the_poll_interval_is_ten_seconds_unless_set(environment: dict[str, str], seconds: float) -> None:
    assert poll_seconds(environment) == seconds


def test_over_a_real_connection_bodies_answers_and_headers_arrive() -> None:
    with StandIn() as stand_in:
        settings = configuration.configuration({"apiEndpoint": stand_in.url, "token": stand_in.token}, {})
        real = Api(settings, HttpSender(), Patience(StillClock()))

        made = real.call("POST", "/v2/spaces/keys", {"name": "k", "grants": []})["key"]["access_key"]
        real.call("DELETE", f"/v2/spaces/keys/{made}")

        assert real.exists(f"/v2/spaces/keys/{made}") is None


def test_over_a_real_connection_a_closed_port_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(ApiUnreachableError, match=f"GET http://127.0.0.1:{port}/x"):
        HttpSender()("GET", f"http://127.0.0.1:{port}/x", {}, None)
