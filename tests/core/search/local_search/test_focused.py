"""Focused search: random violated constraints, repaired by the plain rule of WalkSAT."""

import numpy as np
import pytest

from cluster import Solo
from core.errors import UserError
from core.kernels.local_search.member_sets import change_set, member_at, set_size, set_sizes
from core.lang import Array, function, i32, kernel, lane, team_size, u32
from core.problems.more.max_sat.problem import MaxSat
from core.problems.more.max_sat.repairs import FOCUS, UnsatisfiedClauses, unsatisfied_at
from core.search.local_search import FocusedSearch, Iterations, LocalSearch, ProblemError, Target, check
from tests.core.search.local_search import weighted
from tests.core.search.local_search.reference import below, random_start, word
from tests.core.search.local_search.table import result_of, search

CONSTRAINING, STRAYING = 6 << 32, 7 << 32
FORMULA = "random:40:ratio=5:seed=7"


def walked(problem, seed, noise, iterations):
    """Costs of a walk and its end, by lists and counts."""
    instance = problem.instance
    clauses = np.split(instance.literals, instance.starts[1:-1])
    bits = list(random_start("bits", instance.variables, seed, 0))

    def true_in(clause):
        return sum(bits[one >> 1] ^ (one & 1) for one in clause)

    def harm(variable):
        alone = [k for k, one in enumerate(clauses) if true_in(one) == 1 and variable in one >> 1]
        bits[variable] ^= 1
        broken = sum(int(instance.weights[k]) for k in alone if true_in(clauses[k]) == 0)
        bits[variable] ^= 1
        return broken

    costs = []
    for step in range(iterations):
        violated = [one for one in clauses if true_in(one) == 0]
        if not violated:
            break
        chosen = violated[below(len(violated), seed, CONSTRAINING, step)]
        harms = [(harm(int(one) >> 1), int(one) >> 1) for one in chosen]
        random = word(seed, STRAYING, step)
        flipped = min(harms)[1]
        if min(harms)[0] > 0 and random >> 16 < round(65536 * noise):
            flipped = int(chosen[(random & 0xFFFF) * len(chosen) >> 16]) >> 1
        bits[flipped] ^= 1
        costs.append(problem.cost(np.array(bits)))
    return costs, bits


@pytest.mark.parametrize("noise", [0, 0.4, 1])
def test_a_walk_is_the_plain_walk(cpu, noise):
    problem = MaxSat(FORMULA)
    costs, bits = walked(problem, 3, noise, 60)
    search = LocalSearch(cpu, Solo(), problem, FocusedSearch(noise), "flip1", seed=3)
    outcome = search.run(Iterations(60))
    assert search.backend.download(search.launcher.memory.walkers.solution).tolist() == bits
    assert (outcome.cost, outcome.found_at) == (min(costs), costs.index(min(costs)) + 1)
    assert outcome.evaluations == outcome.iterations == 60


def test_a_walk_ends_when_nothing_is_violated(cpu):
    problem = MaxSat("random:60:ratio=3:seed=2")
    outcome = LocalSearch(cpu, Solo(), problem, FocusedSearch(), "flip1", seed=3).run(Iterations(10_000))
    assert outcome.cost == problem.cost(outcome.solution) == 0
    assert outcome.iterations < 10_000


@pytest.mark.slow
def test_a_large_formula_is_nearly_satisfied(cpu):
    outcome = LocalSearch(cpu, Solo(), MaxSat("random:10000:ratio=4:seed=1"), FocusedSearch(), "flip1").run(
        Iterations(2_000_000) | Target(20)
    )
    assert outcome.cost <= 20


@pytest.mark.parametrize("shape", [(True, 3, 5, 1), (False, 2, 4, 3)], ids=str)
def test_the_shape_of_a_launch_does_not_matter(python, cpu, shape):
    row = ("sat", "flip1", "unsatisfied-clauses", "focused", {})
    focused = search(python, Solo(), row)
    it = focused.launcher.shape
    it.in_one_team, it.team_size, it.step_size, it.teams = shape
    assert result_of(focused) == result_of(search(cpu, Solo(), row))


def test_a_problem_without_constraints_is_refused(cpu):
    with pytest.raises(UserError, match="focused search: no evaluation of weighted:12 has a `focus`"):
        LocalSearch(cpu, Solo(), weighted.Weighted(weighted.TWELVE), FocusedSearch(), "flip1")


# --- the check ---


@function
def always_the_first(bits: Array[i32], rank: i32, formula: UnsatisfiedClauses) -> i32:
    return unsatisfied_at(bits, 0, formula)


@function
def no_repairs(bits: Array[i32], clause: i32, formula: UnsatisfiedClauses) -> i32:
    return 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"violated_at": always_the_first}, r"violated constraints \[.*\]: expected different ones .*always_the_first"),
        ({"repairs": no_repairs}, r"0 repairs of constraint \d+, expected 1 to 65535 .*no_repairs"),
    ],
)
def test_wrong_constraints_are_found(changes, words):
    class Wrong(MaxSat):
        def evaluations(self, neighbourhood):
            its = super().evaluations(neighbourhood)["unsatisfied-clauses"]
            return {"unsatisfied-clauses": its._replace(focus=FOCUS._replace(**changes))}

    with pytest.raises(ProblemError, match=words):
        check(Wrong(FORMULA))


# --- sets ---


@kernel
def change_all(count: i32, most: i32, numbers: Array[i32], steps: Array[i32], bits: Array[u32], tallies: Array[i32]):
    for k in range(lane(), count, team_size()):
        change_set(bits, tallies, most, numbers[k], steps[k])


@kernel
def list_all(most: i32, members: Array[i32], bits: Array[u32], tallies: Array[i32]):
    members[0] = set_size(tallies, most)
    for rank in range(set_size(tallies, most)):
        members[1 + rank] = member_at(bits, tallies, rank)


def test_a_set_has_the_members_of_a_plain_set(backend):
    most = 5000
    words, groups = set_sizes(most)
    rng = np.random.default_rng(3)
    bits, tallies = (backend.upload(np.zeros(size, dtype)) for size, dtype in ((words, np.uint32), (groups, np.int32)))
    plain = set()
    for numbers in (rng.permutation(most)[:600], [31, 32, 2047, 2048, most - 1], rng.permutation(most)[:900]):
        once = np.array(numbers, np.int32)
        steps = np.array([-1 if one in plain else 1 for one in once.tolist()], np.int32)
        plain ^= set(once.tolist())
        backend.launch(change_all, 1, min(8, backend.capabilities.max_team_size), len(once), most, backend.upload(once),
                      backend.upload(steps), bits, tallies)  # fmt: skip
        members = backend.upload(np.zeros(len(plain) + 1, np.int32))
        backend.launch(list_all, 1, 1, most, members, bits, tallies)
        assert backend.download(members).tolist() == [len(plain), *sorted(plain)]
