"""The forms in which a command answers."""

from enum import StrEnum


class Output(StrEnum):
    """`json` is stable: keys are added, never renamed."""

    text = "text"
    json = "json"
    markdown = "markdown"


class TextOrJson(StrEnum):
    """For the verbs that have no markdown form."""

    text = "text"
    json = "json"
