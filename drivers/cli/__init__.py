"""The command `onekernel`, and every program's behaviour on a terminal: exit codes, interrupts, messages, progress.

`run_driver` calls a program and converts its errors to exit codes. A search reports to `progress_callback`, which moves
a `progress_bar`. `exit_codes`, `interrupts`, `messages` and `progress` are used from outside; `console` is the entry
point. Options belong in `drivers.options`. Imports stay cheap, since every rank pays for them.
"""
