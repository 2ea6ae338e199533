"""The one root of every error that this project raises on purpose.

A message says what is wrong, with the value, and what to do next: the command prints it as it is, without a traceback.
"""


class DoksGpuError(Exception):
    """Something that the user can put right. `exit_code` is what the command ends with."""

    exit_code = 1


class RefusedError(DoksGpuError):
    """The configuration is wrong or would break a rule: nothing was made, nothing was sent."""

    exit_code = 2
