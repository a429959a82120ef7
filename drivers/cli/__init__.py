"""The command `onekernel`, and how every program acts on a terminal: exit codes, interrupts, messages, progress.

Used from outside: `exit_codes`, `interrupts`, `messages`, `progress`; `console` is the entry point of the command.
Options belong in `drivers.options`. Imports stay cheap, since every rank pays for them.
"""
