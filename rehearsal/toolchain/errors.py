"""What goes wrong while the rehearsal's programs are found or made."""

from doks_gpu.errors import DoksGpuError


class ToolchainError(DoksGpuError):
    """A program could not be found or made. The message names it and the way out."""
