"""Instances as files: folders, base of readers, TSPLIB, downloads with pinned digests, and published optima.

Others import `errors`, `files`, `sources`, `optima` and `matrix_text`; readers of all problems import the rest.
Classes of problems and readers of one problem's own format do not belong here.
"""
