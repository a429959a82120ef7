"""Arguments of wrong types: every public function refuses them in one line that names the argument."""

import pytest

import onekernel as ok

SMALL = {"backend": "cpu", "iterations": 5}


@pytest.fixture(scope="module")
def qap():
    return ok.Qap("taillard:6:seeds=1,2")


@pytest.fixture(scope="module")
def scope(qap, tmp_path_factory):
    return {"ok": ok, "q": qap, "small": SMALL, "out": tmp_path_factory.mktemp("out")}


OBJECT = "expected an object of a class of problems"
CASES = {
    # searching
    "ok.minimize(ok.Qap, **small)": rf"problem=Qap, a class: {OBJECT}: Qap\(...\)",
    "ok.minimize(q, 'tabu', **small)": r"algorithm='tabu': expected ok.TabuSearch\(\)",
    "ok.minimize(q, ok.TabuSearch, **small)": r"algorithm=TabuSearch: expected ok.TabuSearch\(\)",
    "ok.minimize(q, 3, **small)": r"algorithm=3: expected an algorithm such as ok.TabuSearch\(\)",
    "ok.minimize(q, stop=3, backend='cpu')": r"stop=3: expected stop criteria such as ok.Seconds\(5\) | ok.Target",
    "ok.minimize(q, stop=ok.Target(0), **small)": "stop and iterations=5: expected one of them",
    "ok.minimize(q, neighbourhood=3, **small)": "neighbourhood=3: expected a neighbourhood, or 1 to 3",
    "ok.minimize(q, neighbourhood=['exchange2', 3], **small)": r"neighbourhood=\['exchange2', 3\]: expected",
    "ok.minimize(q, seed=1.5, **small)": "seed=1.5: expected an integer of at least 0",
    "ok.minimize(q, seeds=3, **small)": r"seeds=3: expected several integers, such as range\(10\)",
    "ok.minimize(q, seeds=[None], **small)": r"seeds=\[None\]: expected an integer",
    "ok.minimize(q, backend=None)": "backend=None: expected a text",
    "ok.minimize(q, iterations='many')": "iterations='many': expected an integer of at least 1",
    "ok.minimize(q, seconds=float('nan'))": "seconds=nan: expected a number of at least 0",
    "ok.minimize(q, history='no', **small)": "history='no': expected True or False",
    "ok.minimize(q, callback=3, **small)": "callback=3: expected a function, or None",
    "ok.minimize(q, record=3, **small)": "record=3: expected a path",
    "ok.run(None)": "workload=None: expected one of ihc, aco",
    "ok.minimize(q, history=True, **small).plot(3)": "axes=3: expected two axes of matplotlib",
    "ok.LocalSearch(None, None, q, ok.TabuSearch(), 'exchange2')": "backend=None: expected an object that",
    # comparing, and reading records
    "ok.compare(3)": f"problem=3: {OBJECT}",
    "ok.compare(q, backends='cpu', out=out)": "backends='cpu': expected some of python, cpu",
    "ok.compare(q, ranks=2, out=out)": r"ranks=2: expected several integers, such as \[2, 4\]",
    "ok.compare(q, out=None)": "out=None: expected a path",
    "ok.load(['a'])": r"paths=\['a'\]: expected a path",
    "ok.load()": r"load\(\): expected the name of a file of records",
    # checking
    "ok.check(q, backend='cpu', moves=0)": "moves=0: expected an integer of at least 1",
    "ok.check(q, backend='cpu', neighbourhood=3)": "neighbourhood=3: expected one of exchange2, exchange3",
    "ok.check(q, backend=3)": "backend=3: expected one of python, cpu",
    # algorithms and stop criteria
    "ok.TabuSearch(tabu_memory=3)": "tabu search that remembers 3: expected auto, attributes or moves",
    "ok.SimulatedAnnealing('hot')": "temperature='hot': expected a number",
    "ok.Target(1.5)": "cost=1.5: expected an integer",
    "ok.Iterations(3) | 3": r"stop=3: expected a stop criterion such as Iterations\(1000\)",
    # problems
    "ok.Problem(3, ok.Bits(3), None)": "name=3: expected a text",
    "ok.Problem('mine', 'bits', None)": r"encoding='bits': expected Bits\(n\), Values\(n, k\), Permutation",
    "ok.Neighbourhood.custom('mine', 3, (), 'flip')": "size=3: expected a function",
    "ok.Qap(3)": "instance=3: expected a name, a path, two matrices, or an object of QapInstance",
    "ok.TspTour(None)": "instance=None: expected a name, a path, a matrix of distances, or an object of TspInstance",
    "ok.bundle(3)": "@bundle of 3: expected a class",
}


@pytest.mark.parametrize(("call", "words"), CASES.items(), ids=CASES)
def test_an_argument_of_another_type_is_refused_in_one_line(call, words, scope, monkeypatch):
    monkeypatch.chdir(scope["out"])
    with pytest.raises(ok.UserError, match=f"^(.*: )?{words}") as error:
        eval(call, dict(scope))
    assert "\n" not in str(error.value) and error.value.exit_code == 2
    assert list(scope["out"].iterdir()) == []


@pytest.mark.parametrize(
    ("call", "words"),
    {
        "ok.main(None)": "problem=None: expected a class of problems, a function that makes a problem, or a problem",
        "ok.main(int)": "problem=int, a class: expected a class of problems",
        "ok.main(ok.Qap, 3)": "argv=3: expected a list of texts",
        "ok.main(ok.Qap, [3])": "argv=3: expected a text",
    }.items(),
)
def test_a_program_of_something_else_ends_with_one_line(call, words, scope, capsys):
    with pytest.raises(SystemExit) as ended:
        exec(call, {**scope, "__name__": "__main__"})
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.startswith(f"error: {words}") and said.err.count("\n") == 1
