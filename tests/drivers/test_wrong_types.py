"""Arguments of wrong types: every public function refuses them in one line that names the argument."""

import numpy as np
import pytest

import onekernel as ok

SMALL = {"backend": "cpu", "iterations": 5}


@pytest.fixture(scope="module")
def qap():
    return ok.Qap("taillard:6:seeds=1,2")


@pytest.fixture(scope="module")
def scope(qap, tmp_path_factory):
    names = {"huge": 10**5000, "zeros": np.zeros((3, 6), int)}
    return {"ok": ok, "q": qap, "small": SMALL, "out": tmp_path_factory.mktemp("out"), **names}


OBJECT = "expected an object of a class of problems"
CASES = {
    # searching
    "ok.minimize(ok.Qap, **small)": rf"problem=Qap, a class: {OBJECT}: Qap\(...\)",
    "ok.minimize(q, 'tabu', **small)": r"algorithm='tabu': expected ok.TabuSearch\(\)",
    "ok.minimize(q, stop=3, backend='cpu')": r"stop=3: expected stop criteria such as ok.Seconds\(5\) | ok.Target",
    "ok.minimize(q, stop=ok.Target(0), **small)": "stop and iterations=5: expected one of them",
    "ok.minimize(q, neighbourhood=3, **small)": "neighbourhood=3: expected a neighbourhood, or 1 to 3",
    "ok.minimize(q, seed=1.5, **small)": "seed=1.5: expected an integer of at least 0",
    "ok.minimize(q, seeds=3, **small)": r"seeds=3: expected several integers, such as range\(10\)",
    "ok.minimize(q, backend=None)": "backend=None: expected a text",
    "ok.minimize(q, iterations='many')": "iterations='many': expected an integer of at least 1",
    "ok.minimize(q, stop=ok.Seconds(float('nan')))": "seconds=nan: expected a number of at least 0",
    "ok.minimize(q, execution=3, **small)": r"execution=3: expected execution settings such as ok.Execution\(cores=4\)",
    "ok.minimize(q, execution=ok.Execution(level='walk'), **small)": "level='walk': expected one of iteration, algor",
    "ok.minimize(q, execution=ok.Execution(cores=0), **small)": "cores=0: expected an integer of at least 1",
    "ok.minimize(q, checkpoint=ok.CheckpointFile('state', every='x'), **small)": "checkpoint_every='x': expected a num",
    "ok.run('qap', algorithm=ok.TabuSearch(3), tenure=3)": r"tenure=3 and algorithm=TabuSearch\(tenure=3\): expected it",
    "ok.minimize(q, history='no', **small)": "history='no': expected True or False",
    "ok.minimize(q, callback=3, **small)": "callback=3: expected a function, or None",
    "ok.minimize(q, record=3, **small)": "record=3: expected a path",
    "ok.run(None)": "workload=None: expected one of ihc, aco",
    "ok.minimize(q, history=True, **small).plot(3)": "axes=3: expected two axes of matplotlib",
    "ok.LocalSearch(None, None, q, ok.TabuSearch(), 'exchange2')": "backend=None: expected an object that",
    # comparing, and reading records
    "ok.compare(3)": f"problem=3: {OBJECT}",
    "ok.compare(q, backends='cpu', out=out)": "backends='cpu': expected some of python, cpu",
    "ok.load(['a'])": r"paths=\['a'\]: expected a path",
    "ok.load()": r"load\(\): expected the name of a file of records",
    # checking
    "ok.check(q, backend='cpu', moves=0)": "moves=0: expected an integer of at least 1",
    "ok.check(q, backend=3)": "backend=3: expected one of python, cpu",
    # algorithms and stop criteria
    "ok.TabuSearch(tabu_memory=3)": "tabu_memory=3: expected one of auto, attributes, moves",
    "ok.Target(1.5)": "target=1.5: expected an integer",
    "ok.Iterations(3) | 3": r"stop=3: expected a stop criterion such as Iterations\(1000\)",
    "ok.Seconds(0)": "seconds=0: expected a number above 0",
    "ok.Iterations(True)": "iterations=True: expected an integer from 1 to",
    "ok.NoImprovement(0)": "patience=0: expected an integer from 1 to",
    "ok.Bits(True)": "number of elements n=True: expected an integer from 1 to 65535",
    # numbers that Python refuses to print
    **{
        f"ok.{call}": ".*=\\[?<an integer of about 5000 digits>\\]?(: expected| .did you mean)"
        for call in (
            *("Seconds(huge)", "Iterations(-huge)", "Values(3, huge)", "Qap(huge)", "TabuSearch(tenure=huge)"),
            *("minimize(q, iteration=huge)", "minimize(q, seeds=[huge])", "compare(q, ranks=[huge], out=out)"),
        )
    },
    # calls that do not fit
    "ok.TabuSearch(tenur=1)": r"tenur=1 \(did you mean tenure\?\): found no such option of TabuSearch",
    "ok.check(q, backends=['cpu'])": r"backends=\['cpu'\] \(did you mean backend\?\): found no such option of check",
    "ok.Seconds()": r"Seconds\(\): missing a required argument: 'seconds': expected seconds",
    "ok.Permutation(3, 4)": r"Permutation\(\): too many positional arguments: expected n",
    "ok.minimize(q, ranks=3, **small)": "ranks=3: expected a communicator; numbers of ranks are for mpirun",
    "ok.minimize(q, iteration=5, **small)": r"iteration=5 \(did you mean iterations\?\): found no such option of minimize",
    "ok.minimize(q, tenure=3, **small)": r"tenure=3: expected ok.TabuSearch\(tenure=...\)",
    "ok.minimize(q, seconds=5)": r"seconds=5: expected stop=ok.Seconds\(...\)",
    "ok.minimize(q, patience=5)": r"patience=5: expected stop=ok.NoImprovement\(...\)",
    "ok.minimize(q, level='solution', **small)": r"level='solution': expected execution=ok.Execution\(level=...\)",
    "ok.minimize(q, resume=True, **small)": r"resume=True: expected checkpoint=ok.CheckpointFile\(..., resume=True\)",
    "ok.minimize(q, plot='a.svg', **small)": "plot='a.svg': expected history=True and `plot` of the result",
    "ok.minimize(q, seed=1, seeds=[1, 2], **small)": "seed=1 and seeds: expected one of them",
    # start solutions, and seeds in processes
    "ok.minimize(q, initial=zeros, **small)": r"start solutions of shape \(3, 6\): expected \(6,\), or \(1, 6\) with one",
    "ok.minimize(q, initial=range(7), **small)": r"a start solution of shape \(7,\): expected \(6,\)",
    "ok.minimize(q, initial=[0, 0, 1, 2, 3, 4], **small)": "a start solution that has 0 twice",
    "ok.minimize(q, initial=3, **small)": "initial=3: expected a solution, or one for each walk",
    "ok.run('ihc', workers=2, seeds=[0, 1], repeats=2)": "workers=2 and repeats: expected one of them",
    "ok.run('ihc', workers=2, seeds=[0, 1], tour='best.tour')": "--tour with --seeds: expected one seed",
    "ok.run('ihc', workers=2, seeds=[0, 1], climber=4)": r"climber=4 \(did you mean climbers\?\)",
    "ok.minimize(q, workers=2, iterations=5)": "workers=2 without seeds: expected several seeds",
    "ok.minimize(q, workers=2, seeds=[0, 1], backend='opencl')": "workers with backend='opencl': expected one of python",
    "ok.minimize(q, workers=2, seeds=[0, 1], execution=ok.Execution(cores=2))": "workers=2 and cores: expected one of them",
    "ok.minimize(q, workers=2, seeds=[0, 0])": r"seeds=\[0, 0\]: expected up to 10000 different seeds",
    # arrays
    "ok.TspTour([[0, 1, 2], [3, 0, 1], [2, 1, 0]])": ".*distance 1 from city 0 to 1 and 3 back, expected a",
    "ok.TspTour(coordinates=[[1, 2], [3]])": ".*coordinates that are no numbers in equal rows, expected",
    "ok.run('knapsack', instance=q)": ".*a name, a path, or an object of ok.Knapsack",
    "ok.run('heldkarp', matrix=[[0, 0.5], [1, 0]])": ".*distances such as 0.5, expected integers",
    # names that are nearly right
    "ok.TabuSearch(tabu_memory='move')": r"tabu_memory='move' \(did you mean moves\?\): expected one of auto",
    "ok.minimize(q, backend='cpuu')": r"no backend 'cpuu' \(did you mean cpu\?\)",
    "ok.minimize(q, neighbourhood='exchnge2', **small)": r"neighbourhood 'exchnge2' \(did you mean exchange2\?\)",
    # problems
    "ok.Problem(3, ok.Bits(3), None)": "name=3: expected a text",
    "ok.Problem('mine', 'bits', None)": r"encoding='bits': expected Bits\(n\), Values\(n, k\), Permutation",
    "ok.Neighbourhood.custom('mine', 3, (), 'flip')": "size=3: expected a function",
    "ok.Qap(3)": "instance=3: expected a name, a path, two matrices, or an object of QapInstance",
    "ok.bundle(3)": "@bundle of 3: expected a class",
}


@pytest.mark.parametrize(("call", "words"), CASES.items(), ids=CASES)
def test_an_argument_of_another_type_is_refused_in_one_line(call, words, scope, monkeypatch):
    monkeypatch.chdir(scope["out"])
    with pytest.raises(ok.UserError, match=f"^(.*: )?{words}") as error:
        eval(call, dict(scope))
    assert "\n" not in str(error.value) and error.value.exit_code == 2 and len(str(error.value)) < 250
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
