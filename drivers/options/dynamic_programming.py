"""Options of dynamic programming, common to the drivers of all its problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from core.errors import UserError
from drivers.options.declaration import Options

AnyDp = TypeVar("AnyDp", bound="DpOptions")


@dataclass(frozen=True)
class DpOptions(
    Options, table="dynamic_programming", hidden=("seed", "seeds", "checkpoint", "resume", "checkpoint_every")
):
    """Options of dynamic programming."""

    trace: bool = True
    mapping: str = "native"
    device_memory: int | None = None
    spill: str | None = None
    profile: bool = False

    @property
    def keeps_checkpoints(self) -> bool:
        """True for an exact search that may take hours."""
        return False

    def refuse_idle(self) -> None:
        """Refuse checkpoints, a folder for decisions without any, and settings of the paper's mapping."""
        if self.checkpoint is not None and not self.keeps_checkpoints:
            raise UserError("--checkpoint: dynamic programming has none, since it takes seconds; leave it out")
        self.refuse_without(self.trace, "--trace, which stores decisions", "spill")
        if self.published and self.device_memory is not None:
            raise UserError("--device-memory changes nothing here: --mapping published copies all cells to the host")

    @property
    def published(self) -> bool:
        return self.mapping == "published"
