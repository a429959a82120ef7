"""Other people's solvers beside our search."""

import pytest

FAST = {"name": "fast-tsp", "version": "0.2.2", "cost": 21282, "proved": False, "solve_s": 1.0, "startup_s": 0.1}
FAST |= {"time_to_cost_s": 0.25, "time_limit_s": 1.0, "in_process": True, "failure": ""}


@pytest.fixture
def with_peers(make_record):
    def make(*peers, cost=21282, details=None, **changes):
        fields = {"best_cost": cost} | changes
        known = {"reference_solvers": list(peers), "optimum": 21282} | (details or {})
        one_core = make_record(times=[10.0], details=known, **fields)
        return [one_core, make_record(backend="cuda", times=[0.5], **fields)]

    return make


def verdicts(section):
    return [(verdict.text, verdict.ahead) for verdict in section.solvers.verdicts()]


def test_a_solver_that_is_faster_than_our_fastest_is_said_plainly(with_peers, section_of, report_of):
    runs = with_peers(FAST)
    ((text, ahead),) = verdicts(section_of(runs))
    assert ahead
    assert text == (
        "fast-tsp 0.2.2 on one core needs 250 ms for a cost as good as ours: it is 2.00x as fast as our fastest "
        "(cuda, 500 ms); it is 40.0x as fast as our one core (10.0 s)."
    )
    assert f"**{text}**" in report_of(runs).split("## What ran")[0]


def test_a_better_cost_is_said_even_if_it_took_longer(with_peers, section_of):
    ((text, ahead),) = verdicts(section_of(with_peers(FAST | {"time_to_cost_s": 20.0}, cost=21300)))
    assert ahead and "found 21,282 in 1.00 s, better than our 21,300," in text
    assert "our fastest (cuda, 500 ms) is 40.0x as fast" in text


def test_a_slower_and_a_worse_solver_are_not_ahead(with_peers, section_of, report_of):
    slower, worse = FAST | {"time_to_cost_s": 20.0}, FAST | {"name": "elkai", "cost": 21300, "time_to_cost_s": None}
    runs = with_peers(slower, worse)
    said = verdicts(section_of(runs))
    assert [ahead for _, ahead in said] == [False, False]
    assert said[1][0] == "elkai 0.2.2 found 21,300 in 1.00 s, worse than our 21,282."
    assert "**fast-tsp" not in report_of(runs)
    assert "| elkai 0.2.2 | 21,300 | 0.08 % above | 1.00 s | not reached | 100 ms | time limit 1.00 s |" in report_of(
        runs
    )


def test_more_is_better_where_the_cost_is_a_value(with_peers, section_of):
    found = FAST | {"cost": 300, "time_to_cost_s": None}
    runs = with_peers(found, cost=200, details={"maximises": True}, hash_scope="result")
    assert "found 300 in 1.00 s, better than our 200," in verdicts(section_of(runs))[0][0]


def test_a_program_is_told_apart_from_a_call_in_a_warm_process(with_peers, report_of):
    program = FAST | {"in_process": False, "process_s": 1.1, "proved": True, "time_limit_s": None}
    assert "| proved; a whole process without its start-up |" in report_of(with_peers(program))


def test_of_several_seeds_the_first_with_solvers_counts(make_record, section_of):
    def run(seed):
        peers = {"reference_solvers": [FAST | {"cost": 21282 + seed}]} if seed else {}
        return make_record(seed=seed, best_cost=21282 + 10 * seed, hash=f"{seed:04x}", details=peers)

    beside = section_of([run(seed) for seed in range(3)]).solvers
    assert (beside.seed, beside.cost, beside.solvers[0].cost) == (1, 21292, 21283)
    assert beside.table().caption.endswith("kroA100, seed 1")


@pytest.mark.parametrize("peers", [None, [], 7, ["fast-tsp"], {"name": "fast-tsp"}])
def test_records_without_solvers_have_no_section(make_record, section_of, report_of, peers):
    runs = [make_record(details={"reference_solvers": peers})]
    assert section_of(runs).solvers is None
    assert "Another algorithm" not in report_of(runs)


def test_odd_values_and_a_solver_that_is_not_there_count_as_not_measured(with_peers, section_of, report_of):
    odd = {"name": "x", "cost": "many", "solve_s": True, "time_to_cost_s": [], "failure": None}
    runs = with_peers(odd, {"name": "concorde", "failure": "not found: its page"})
    assert verdicts(section_of(runs)) == []
    assert "| x |  |  |  |  |  |  |" in report_of(runs)
    assert "| concorde |  |  |  |  |  | not found: its page |" in report_of(runs)
