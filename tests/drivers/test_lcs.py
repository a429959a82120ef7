"""The driver of longest common subsequences: what it prints, saves, records and refuses; options of all of its kind."""

import argparse

import pytest

from core.tables.lcs import strings
from drivers import lcs
from drivers.options.values import memory_size

DRIVER = lcs
QUICK = ["--backend", "cpu", "--no-progress"]
WORDS = ["--text", "ABCBDAB", "BDCABA"]


# --- what comes out ---


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [("ABCBDAB", "BDCABA", "BDAB"), ("", "", ""), ("abc", "", ""), ("é", "è", ""), ("né日本", "n日è本", "n日本")],
)
def test_words_of_the_command_line_and_their_subsequence(drive, tmp_path, a, b, common):
    code, said, error = drive("--text", a, b, *QUICK, "--output", tmp_path / "common.txt")
    assert (code, error) == (0, "")
    assert said.startswith(f"texts: length {len(common)} of {len(a)} and {len(b)} letters, ")
    assert "confirmed by the scorer" in said
    assert (tmp_path / "common.txt").read_bytes() == f"{common}\n".encode()


def test_fasta_files_may_stand_anywhere_and_the_subsequence_becomes_a_record(drive, tmp_path):
    (tmp_path / "a.fasta").write_text(">a\n" + "ACGT\n" * 40)
    (tmp_path / "b.fasta").write_text(">no\nGG\n>b x\n" + "CGTA" * 30 + "\n")
    asked = [tmp_path / "a.fasta", "--backend", "cpu", f"{tmp_path / 'b.fasta'}:b", "--no-progress"]
    code, said, _ = drive(*asked, "--output", tmp_path / "o.fasta")
    assert code == 0
    assert said.startswith("a, b: length 120 of 160 and 120 letters")
    (record,) = strings.read_fasta((tmp_path / "o.fasta").read_bytes())
    assert record.letters == b"CGTA" * 30
    assert max(map(len, (tmp_path / "o.fasta").read_text().splitlines()[1:])) == lcs.LINE
    _, both, _ = drive(tmp_path / "b.fasta", *QUICK)
    assert both.startswith("no, b: length 2 of 2 and 120 letters")
    (tmp_path / "m.fa").write_text(">m\nacgT\n")
    code, said, notes = drive(tmp_path / "m.fa", tmp_path / "b.fasta", *QUICK)
    assert (code, notes.count("note: ")) == (0, 2) and said.startswith("m, no: length 1 of 4 and 2 letters")
    assert "lower-case (soft-masked) letters count as their capitals" in notes and "the first 1 of 2" in notes


# --- options that all drivers of dynamic programming have ---


@pytest.mark.parametrize(
    ("text", "count"),
    [("4096", 4096), ("64k", 1 << 16), ("1.5G", 3 << 29), ("2T", 2 << 40), ("5MiB", 5 << 20), ("12B", 12)],
)
def test_sizes_have_suffixes(text, count):
    assert memory_size(text) == count


@pytest.mark.parametrize("text", ["", "0", "0.0001K", "-1", "K", "1X", "1KK", "1 K", "9" * 40, "１K", "inf"])
def test_what_is_no_size_is_refused_in_one_line(text):
    with pytest.raises(
        argparse.ArgumentTypeError, match="^expected bytes, with K, M, G or T as in 512M or 1.5G, found"
    ):
        memory_size(text)
