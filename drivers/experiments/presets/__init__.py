"""Presets: each makes a plan, runs it and writes its page.

`compare`: one workload everywhere; `overview`: many workloads everywhere; `reproduce`: a paper's tables and figures;
`bench`: the speeds that the project promises.
"""
