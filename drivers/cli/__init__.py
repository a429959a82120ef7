"""The command `onekernel`, and how every program acts on a terminal: exit codes, interrupts, messages, progress.

`run_driver` calls a program and converts its errors to exit codes. A search reports to `progress_callback`, which moves
a `ProgressDisplay`.

Used from outside: `exit_codes`, `interrupts`, `messages`, `progress`; `console` is the entry point of the command.
Options belong in `drivers.options`. Imports stay cheap, since every rank pays for them.
"""
