"""Errors for the user to correct: shown as their message alone, exit code 2, no traceback."""


class UserError(Exception):
    """A mistake in the user's input.

    The message names the file, line, option or instance, the value found and the value expected. A program ends with
    `exit_code` and prints the message alone. Exceptions derived from other classes have the same attribute.
    """

    exit_code = 2


class NoRoom(UserError):
    """A table that needs more memory, or larger indices, than there are; a program adds how to do without it."""


class LaunchRefused(UserError):
    """The device cannot run this launch: team too large, too much shared memory, arguments that do not fit."""


class TeamTooLarge(LaunchRefused):
    """The kernel needs too many registers for the team size; the device runs it with smaller teams."""
