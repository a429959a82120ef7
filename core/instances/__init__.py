"""Instances as files: folders, base of readers, TSPLIB, downloads with pinned digests, and published optima.

An `InstanceReader` finds the file of a name along `folders`, reads its text by `files`, parses it and keeps the result;
`specifications` describes generated instances. Every error is an `InstanceError` with file and line.

Others import `errors`, `files`, `sources`, `optima` and `matrix_text`; readers of all problems import the rest.
Classes of problems and readers of one problem's format belong to the problem's package. `python -m core.instances`
fetches, lists and shows instances.
"""
