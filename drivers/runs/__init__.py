"""Execution of one workload on this process and its ranks: device, repetitions, records, checkpoints and profiles.

`run_seeds` loads the task and makes a search on the device of `select_backend`. `Repetitions` runs and verifies it, as
often and on the amounts that a plan of `measuring` asks for, and a `RunRecorder` appends each repetition to the record;
`RunCheckpoints` saves and resumes it. Plans of many runs belong in `drivers.experiments`.
"""
