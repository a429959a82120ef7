"""The driver of longest common subsequences: what it prints, saves, records and refuses; options of all of its kind."""

import argparse
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from core.problems import strings
from core.search.dp.lcs import Common, LongestCommonSubsequence
from drivers import dp_options, lcs
from drivers.options import add_options, folder, parsed

DRIVER = lcs
QUICK = ["--backend", "cpu", "--no-progress"]
WORDS = ["--text", "ABCBDAB", "BDCABA"]


RAPIDFUZZ = """
class LCSseq:
    @staticmethod
    def similarity(a, b):
        assert a + b in (b"ABCBDABBDCABA", b"ABBA"), (a, b)
        return LENGTH
"""


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


# --- what comes out ---


def test_a_run_says_what_it_found_how_fast_and_who_confirms_it(drive):
    code, said, error = drive("half:3000:seed=2", *QUICK)
    assert (code, error) == (0, "")
    (result,) = said.splitlines()
    assert result.startswith("half:3000:seed=2: length 1500 of 3000 and 3000 letters, ")
    assert re.search(r", 0 bytes streamed, 9,000,000 cells, [\d.,]+ (k |M |G )?cells/s, [\d.]+ s \(compile ", result)
    assert re.search(
        r"hash [0-9a-f]{16} of the answer, confirmed by the scorer and by the strings' making and by plain Python$",
        result,
    )


def test_two_words_of_the_command_line_and_their_subsequence(drive, tmp_path):
    code, said, _ = drive(*WORDS, *QUICK, "--output", tmp_path / "common.txt")
    assert code == 0
    assert said.startswith("texts: length 4 of 7 and 6 letters, ")
    assert (tmp_path / "common.txt").read_bytes() == b"BDAB\n"


@pytest.mark.parametrize(("first", "second"), [("", ""), ("", "abc"), ("abc", "")])
def test_empty_strings_have_an_empty_subsequence(drive, tmp_path, first, second):
    code, said, error = drive("--text", first, second, *QUICK, "--output", tmp_path / "common.txt")
    assert (code, error) == (0, "")
    assert f"length 0 of {len(first)} and {len(second)} letters" in said and "confirmed by the scorer" in said
    assert (tmp_path / "common.txt").read_bytes() == b"\n"


def test_fasta_files_may_stand_anywhere_and_the_subsequence_becomes_a_record(drive, tmp_path):
    (tmp_path / "a.fasta").write_text(">a\n" + "ACGT\n" * 40)
    (tmp_path / "b.fasta").write_text(">no\nGG\n>b x\n" + "CGTA" * 30 + "\n")
    asked = [tmp_path / "a.fasta", "--backend", "cpu", f"{tmp_path / 'b.fasta'}:b", "--no-progress"]
    code, said, _ = drive(*asked, "--output", tmp_path / "o.fasta")
    assert code == 0
    assert said.startswith("a, b: length 120 of 160 and 120 letters")
    (record,) = strings.fasta((tmp_path / "o.fasta").read_bytes())
    assert record.letters == b"CGTA" * 30
    assert max(map(len, (tmp_path / "o.fasta").read_text().splitlines()[1:])) == lcs.LINE
    _, both, _ = drive(tmp_path / "b.fasta", *QUICK)
    assert both.startswith("no, b: length 2 of 2 and 120 letters")


def test_the_length_alone_is_confirmed_by_whoever_knows_it(drive, monkeypatch):
    _, said, _ = drive("random:500", *QUICK, "--no-trace")
    length = strings.common_length(*strings.random_strings(500))
    assert f"length {length} of " in said and "streamed" not in said
    assert said.rstrip().endswith(" of the answer, confirmed by plain Python")
    monkeypatch.setattr(lcs, "COUNTED_AGAIN", 1000)
    _, said, _ = drive("random:500", *QUICK, "--no-trace")
    assert said.rstrip().endswith(" of the answer, not confirmed: nobody was asked (--trace, --verify, --peers)")
    _, said, _ = drive("random:500", *QUICK)
    assert said.rstrip().endswith(" of the answer, confirmed by the scorer")
    _, said, _ = drive("random:500", *QUICK, "--no-trace", "--verify")
    assert said.rstrip().endswith(" of the answer, confirmed by plain Python")


def test_a_record_holds_what_was_asked_and_what_was_done(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    drive("random:600:other=500", *QUICK, "--record", record)
    drive("random:600:other=500", *QUICK, "--record", record, "--no-trace", "--device-memory", "64K")
    traced, alone = lines(record)
    for found in (traced, alone):
        assert (found["workload"], found["backend"], found["evaluations"], found["scored"]) == (
            "lcs",
            "cpu",
            300_000,
            True,
        )
        details = found["details"]
        assert (details["letters"], details["cells"], found["unit"]) == ([600, 500], 300_000, "cells")
        assert details["streamed_bytes"] == 0
    assert traced["details"]["confirmed_by"] == ["the scorer", "plain Python"]
    assert alone["details"]["confirmed_by"] == ["plain Python"]
    assert traced["best_cost"] == alone["best_cost"] == strings.common_length(*strings.random_strings(600, 500))
    assert (traced["parameters"], alone["parameters"]) == ({"trace": True}, {"trace": False})
    assert traced["ways"] == {"mapping": "suite", "tiling": "auto", "device_memory": None, "spill": False}
    assert alone["ways"] == {"mapping": "suite", "tiling": "auto", "device_memory": 65536, "spill": False}
    assert traced["hash_covers"] == "answer"
    assert traced["trajectory_hash"] != alone["trajectory_hash"]
    assert "peers" not in traced["details"]


def test_tilings_and_rooms_find_the_same(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    for arguments in (
        [],
        ["--tiling", "none"],
        ["--tiling", "tiles"],
        ["--device-memory", "20K"],
        ["--device-memory", "20K", "--spill", tmp_path],
    ):
        drive("random:700:seed=3", *QUICK, *arguments, "--record", record)
    found = lines(record)
    assert len(found) == 5
    assert len({run["trajectory_hash"] for run in found}) == 1
    assert [run["details"]["streamed_bytes"] > 0 for run in found] == [False, False, False, True, True]
    assert os.listdir(tmp_path) == ["r.jsonl"]


def test_a_run_that_was_cut_short_makes_only_the_missing_repetitions(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    drive(*WORDS, *QUICK, "--record", record)
    _, said, _ = drive(*WORDS, *QUICK, "--record", record, "--repeats", "3")
    assert "1 of 3 repetitions are in" in said
    assert said.count("confirmed by the scorer") == 2
    (whole,) = lines(record)
    assert len(whole["samples"]) == 3


def test_without_an_argument_the_papers_strings_are_made(drive):
    code, said, _ = drive(*QUICK)
    assert code == 0
    assert said.startswith("half:20000:seed=1: length 10000 of 20000 and 20000 letters, ")


def test_a_bar_shows_waves_and_speed(drive):
    pytest.importorskip("rich")
    code, said, error = drive("random:20000", "--backend", "cpu", "--progress")
    assert code == 0
    assert re.search(r"waves .*[\d,]+ cells/s, best length \d+", error)


# --- who speaks against a result ---


@pytest.fixture
def verdict(drive, tmp_path, monkeypatch):
    """Run the program, whose search finds so many letters in these pairs; returns the end of its line."""

    def run(pairs, length=None, arguments=(), given=WORDS):
        pairs = None if pairs is None else np.array(pairs, np.int64).reshape(-1, 2)
        outcome = Common(len(pairs) if length is None else length, pairs, "", 42, 0)
        monkeypatch.setattr(LongestCommonSubsequence, "run", lambda self, **ways: outcome)
        record = tmp_path / "r.jsonl"
        record.unlink(missing_ok=True)
        code, said, error = drive(*given, *QUICK, *arguments, "--record", record)
        (found,) = lines(record)
        said = said.partition(" of the answer, ")[2].splitlines()[0]
        right = said.startswith("confirmed by ")
        assert (code, found["scored"]) == ((0, True) if right else (1, False))
        assert ("1 of 1 results NOT CONFIRMED; recorded and saved all the same" in error) == (not right)
        assert not right or said == f"confirmed by {' and by '.join(found['details']['confirmed_by'])}"
        return said

    return run


def test_a_wrong_result_is_not_confirmed_and_the_line_says_who_disagrees(verdict, tmp_path):
    right = [(1, 0), (2, 2), (3, 4), (5, 5)]
    assert verdict(right) == "confirmed by the scorer and by plain Python"
    assert verdict(None, 4, ["--no-trace"]) == "confirmed by plain Python"
    assert verdict(right[:3]) == "NOT CONFIRMED: plain Python finds length 4"
    assert verdict(None, 5, ["--no-trace"]) == "NOT CONFIRMED: plain Python finds length 4"
    assert verdict(None, 4) == "NOT CONFIRMED: the scorer finds no subsequence"
    wrong = "NOT CONFIRMED: the scorer finds pair 3 not behind the one before"
    assert verdict([*right[:3], (5, 3)]) == wrong
    assert verdict([(0, 0), *right[1:]]) == "NOT CONFIRMED: the scorer finds different letters in pair 0"


def test_strings_that_were_made_with_a_length_speak_against_another(verdict, tmp_path):
    told = verdict(None, 40, ["--no-trace"], given=["half:100:seed=2"])
    assert told == "NOT CONFIRMED: the scorer finds length 50 by the strings' making; plain Python finds length 50"
    assert lines(tmp_path / "r.jsonl")[0]["details"]["confirmed_by"] == []


# --- other solvers ---


def test_a_run_with_peers_prints_a_table_and_records_it(drive, package, tmp_path):
    package("rapidfuzz.distance", RAPIDFUZZ.replace("LENGTH", "4 if len(a) == 7 else 1"))
    record = tmp_path / "r.jsonl"
    code, said, error = drive(*WORDS, *QUICK, "--peers", "--repeats", "2", "--record", record)
    assert (code, error) == (0, "")
    first, second, head, own, peer, *_ = said.splitlines()
    assert all(
        line.endswith(", confirmed by the scorer and by plain Python and by rapidfuzz") for line in (first, second)
    )
    assert head.split()[:3] == ["solver", "cost", "proved"]
    assert own.split()[:4] == ["this", "search", "4", "yes"]
    assert peer.startswith("rapidfuzz") and peer.split()[-1] == "warm" and " 4  " in peer
    (found,) = lines(record)
    assert found["scored"] and found["details"]["confirmed_by"] == ["the scorer", "plain Python", "rapidfuzz"]
    (peer,) = found["details"]["peers"]
    assert (peer["name"], peer["cost"], peer["repetitions"]) == ("rapidfuzz", 4, 2)


def test_a_peer_may_disagree(drive, package, tmp_path):
    package("rapidfuzz.distance", RAPIDFUZZ.replace("LENGTH", "5 if len(a) == 7 else 1"))
    record = tmp_path / "r.jsonl"
    code, said, error = drive(*WORDS, *QUICK, "--peers", "--repeats", "2", "--record", record)
    assert code == 1
    assert "2 of 2 results NOT CONFIRMED; recorded and saved all the same" in error
    assert said.count(", NOT CONFIRMED: rapidfuzz finds length 5\n") == 2
    (found,) = lines(record)
    assert found["scored"] is False
    (peer,) = found["details"]["peers"]
    assert (peer["cost"], found["details"]["confirmed_by"]) == (5, ["the scorer", "plain Python"])


def test_peers_need_a_repetition_to_stand_beside(drive, package, tmp_path):
    package("rapidfuzz.distance", RAPIDFUZZ.replace("LENGTH", "4"))
    record = tmp_path / "r.jsonl"
    drive(*WORDS, *QUICK, "--record", record)
    code, said, _ = drive(*WORDS, *QUICK, "--peers", "--record", record)
    assert code == 0 and said.splitlines()[0].startswith("1 of 1 repetitions are in ")
    assert said.endswith("nothing to compare the other solvers with: all repetitions are recorded\n")


# --- what is refused ---


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.fa", "none.fa"], "none.fa: found no such file, expected a FASTA file"),
        (["random:x"], "random:x: found length 'x', expected an integer"),
        (["a", "b", "c"], "found a b c: expected two files, or --instance, or --text"),
        (["a", *WORDS], "found a --text: expected two files, or --instance, or --text"),
        (["--instance", "random:9", *WORDS], "found --instance --text: expected two files"),
        ([*WORDS, "--seed", "1"], "--seed changes nothing here"),
        ([*WORDS, "--no-trace", "--spill", "."], "--spill changes nothing here: expected with --trace"),
        ([*WORDS, "--no-trace", "--output", "o.txt"], "--output needs --trace"),
        ([*WORDS, "--output", "nowhere/o.txt"], "--output nowhere/o.txt: cannot write there"),
        ([*WORDS, "--data", "nowhere", "x"], "found x --text"),
        (["x", "--data", "nowhere"], "nowhere: found no such folder"),
        ([*WORDS, "--backend", "abacus"], "abacus"),
        (["random:900", "--tiling", "none", "--device-memory", "200"], "bytes of device memory; 200 are allowed"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(drive, arguments, told):
    code, said, error = drive(*QUICK, *arguments)
    assert (code, said) == (2, "")
    assert error.startswith("error: ") and told in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "wrong", [["--tiling", "squares"], ["--device-memory", "1X"], ["--spill", "nowhere"], ["--repeats", "0"]]
)
def test_a_wrong_option_ends_with_exit_code_2(wrong, capsys):
    with pytest.raises(SystemExit) as end:
        lcs.main([*WORDS, *wrong])
    assert end.value.code == 2
    assert wrong[1] in capsys.readouterr().err


# --- options that all drivers of dynamic programming have ---


def options_of(*arguments):
    parser = argparse.ArgumentParser()
    add_options(parser, dp_options.DpOptions)
    return parsed(dp_options.DpOptions, vars(parser.parse_args(arguments)))


def of_dynamic_programming(options):
    names = ("trace", "mapping", "tiling", "device_memory", "spill", "profile")
    return {name: getattr(options, name) for name in names}


def test_the_first_tiling_is_the_default_and_solutions_are_traced():
    assert of_dynamic_programming(options_of()) == {
        "trace": True,
        "mapping": "suite",
        "tiling": "auto",
        "device_memory": None,
        "spill": None,
        "profile": False,
    }
    given = options_of("--no-trace", "--tiling", "none", "--device-memory", "3M", "--spill", os.curdir, "--profile")
    assert of_dynamic_programming(given) == {
        "trace": False,
        "mapping": "suite",
        "tiling": "none",
        "device_memory": 3 << 20,
        "spill": os.curdir,
        "profile": True,
    }


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1", 1),
        ("4096", 4096),
        ("64K", 1 << 16),
        ("64k", 1 << 16),
        ("1.5G", 3 << 29),
        ("2T", 2 << 40),
        ("5MB", 5 << 20),
        ("5MiB", 5 << 20),
        ("12B", 12),
    ],
)
def test_sizes_have_suffixes(text, count):
    assert dp_options.size(text) == count


@pytest.mark.parametrize(
    "text", ["", "0", "0.0001K", "-1", "K", "1X", "1e9", "1KK", "1 K", "1i", "9" * 40, "１K", "inf"]
)
def test_what_is_no_size_is_refused_in_one_line(text):
    with pytest.raises(
        argparse.ArgumentTypeError, match="^expected bytes, with K, M, G or T as in 512M or 1.5G, found"
    ):
        dp_options.size(text)


def test_a_folder_must_be_one(tmp_path):
    (tmp_path / "file").write_text("")
    assert folder(str(tmp_path)) == str(tmp_path)
    for wrong in (tmp_path / "file", tmp_path / "none"):
        with pytest.raises(argparse.ArgumentTypeError, match="expected a folder in which files can be made, found"):
            folder(str(wrong))


# --- over ranks ---


@pytest.mark.xdist_group("mpi")
@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_find_what_one_process_finds(drive, mpirun, tmp_path, ranks):
    alone, shared = tmp_path / "alone.jsonl", tmp_path / "shared.jsonl"
    given = ["random:3000:other=2500:seed=8", *QUICK]
    drive(*given, "--record", alone)
    done = mpirun(ranks, *given, "--record", shared)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("confirmed by the scorer and by plain Python") == 1
    (one,), (several,) = lines(alone), lines(shared)
    assert several["ranks"] == ranks
    for name in ("best_cost", "trajectory_hash", "parameters", "instance_sha256", "scored"):
        assert several[name] == one[name], name


@pytest.mark.xdist_group("mpi")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.fa", "none.fa"], "none.fa: found no such file"),
        ([*WORDS, "--peers"], "--peers on 3 ranks: expected one"),
    ],
    ids=["no file", "peers"],
)
def test_a_mistake_on_three_ranks_is_said_once(mpirun, arguments, told):
    done = mpirun(3, *QUICK, *arguments)
    assert done.returncode == 2
    assert done.stderr.count(f"error: {told}") == 1
    assert "Traceback" not in done.stderr
