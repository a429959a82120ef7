"""The one class of errors that are the user's to mend: shown as its message alone, exit code 2, no traceback."""


class UserError(Exception):
    """A mistake in what the user asked for or handed in.

    The message names the file, line, option or instance, what was found and what was expected. A program ends
    with `exit_code` and prints the message alone. Exceptions that must derive from another class (a
    `ValueError`, say) join in by carrying the same attribute.
    """

    exit_code = 2


class LaunchRefused(UserError):
    """The device cannot run this launch: team too large, too much shared memory, arguments that do not fit."""


class TeamTooLarge(LaunchRefused):
    """The kernel needs too many registers for the team size; the device runs it with smaller teams."""
