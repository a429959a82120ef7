"""Execution of one workload on this process and its ranks: device, repetitions, records, checkpoints and profiles.

`run_seeds` loads the task and makes a search on the device of `select_backend`. `Repetitions` runs and verifies it,
`MeasuredRun` measures its rate by the rule in `measuring`, and a `RunRecorder` appends each repetition to the record;
`RunCheckpoints` saves and resumes it. Plans of many runs belong in `drivers.experiments`.
"""
