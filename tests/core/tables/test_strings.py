"""Pairs of strings: FASTA and plain files, generators that stay the same, and the scorer of common subsequences."""

import bz2
import gzip
import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.instances.errors import InstanceError
from core.tables.lcs import problem, strings

TWO = b">one first of two\nACGT\nacgt\n\n; a remark\n>chr2:5-9 second\nGG*\n-A\n"


def by_table(a, b):
    """Length of a longest common subsequence, by the table of all prefixes."""
    row = [0] * (len(b) + 1)
    for letter in a:
        before, row = row, [0]
        for j, other in enumerate(b):
            row.append(before[j] + 1 if letter == other else max(row[-1], before[j + 1]))
    return row[-1]


def saved(path, content):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


# --- files ---


@pytest.mark.parametrize("name", ["two.FNA", "two.fas.gz", "two"])
def test_a_fasta_file_is_its_first_record_or_the_named_one(tmp_path, name):
    path = saved(tmp_path / name, TWO)
    with pytest.warns(UserWarning) as notes:
        assert strings.load_string(path) == strings.load_string(f"{path}:one") == ("one", "ACGTACGT")
    masked = f"{path}: lower-case (soft-masked) letters count as their capitals"
    first = f"{path}: the first 1 of 2 records are read; FILE:RECORD names another"
    assert [str(note.message) for note in notes] == [first, masked, masked]
    assert strings.load_string(f"{path}:chr2:5-9") == ("chr2:5-9", "GG*-A")
    pair = strings.load(path)
    assert (pair.name, bytes(pair.a), bytes(pair.b)) == ("one, chr2:5-9", b"ACGTACGT", b"GG*-A")
    assert path in pair.source
    with pytest.warns(UserWarning, match="more.*: the first 2 of 3 records are read; FILE:RECORD names another"):
        strings.load(saved(tmp_path / f"more.{name}", TWO + b">three\nA\n"))


def test_line_ends_white_space_and_bare_headers_do_not_matter():
    records = strings.read_fasta(b"; who wrote this\r\n>\r\nAC GT\t\r\nA\r\n> x y\rC\r>empty\n")
    read = [(record.name, record.letters, record.line) for record in records]
    assert read == [("", b"ACGTA", 2), ("x", b"C", 5), ("empty", b"", 7)]


TEXTS = [
    (b"", ""), (b"\n", ""), (b"a b\n\nc\r\nd\re", "a bcde"), (b" >a", " >a"), (b"@a\nbc\n", "@abc"),
    ("\ufeffäx\u2028\r\n日\n".encode(), "äx\u2028日"), ("\ufeff😀\n".encode("utf-16-be"), "😀"),
    ("äx\r\n日".encode("utf-16"), "äx日"), ("ä\n".encode("utf-32"), "ä"), ("AC\r\nG".encode("utf-16-le"), "ACG"),
    *(("\n>ä x\r\nAC\r\nG".encode(encoding), "ACG") for encoding in ("utf-8-sig", "utf-16", "utf-32")),
]  # fmt: skip


@pytest.mark.parametrize(("content", "string"), TEXTS)
@pytest.mark.parametrize("name", ["letters.gz", "letters"])
def test_any_other_file_is_its_text_without_line_breaks(tmp_path, name, content, string):
    path = saved(tmp_path / name, content)
    assert strings.load_string(path) in {("letters", string), ("ä", string)}


OTHERS = [
    (b"a\nb\xe4\n", "2: found byte 0xe4 at offset 3, expected a text in utf-8"), (bz2.compress(b"a"), "1: found byte 0x"),
    (b"\xff\xfea", "1: found byte 0x61 at offset 2, expected a text in utf-16"),
    (b"@r/1 x\nACGTN\n+\nIIII#\n", "1: found a FASTQ, "), (b"@r\r\nAC\r\nGT\r\n+r\r\nIII\r\nI\r\n", "1: found a FASTQ, "),
    (b"LOCUS       SCU49845     5028 bp    DNA\n", "1: found a FASTQ, "), (b"ID   X56734; SV 1;\n", "1: found a FASTQ, "),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), OTHERS)
def test_a_file_of_another_encoding_or_format_is_refused(tmp_path, content, message):
    path = saved(tmp_path / "letters.gz", content)
    with pytest.raises(InstanceError) as caught:
        strings.load_string(path)
    assert str(caught.value).startswith(f"{path}:{message}")


def test_a_name_is_looked_up_in_the_folder_first(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    saved(tmp_path / "x.txt", b"here")
    saved(tmp_path / "data" / "x.txt", b"there")
    saved(tmp_path / "random:5", b"a file of this name")
    monkeypatch.chdir(tmp_path)
    assert strings.load_string("x.txt") == ("x", "here")
    assert strings.load_string("x.txt", "data") == ("x", "there")
    assert strings.load_string(str(tmp_path / "x.txt"), "data") == ("x", "here")
    pair = strings.load("x.txt", "random:5")
    assert (pair.name, bytes(pair.b)) == ("x, random:5", b"a file of this name")


def test_texts_of_the_command_line_are_code_points_in_any_locale(monkeypatch):
    monkeypatch.setattr("os.fsencode", lambda text: text.encode("utf-8", "surrogateescape"))
    escaped = "é\r\n".encode().decode("ascii", "surrogateescape")  # as Python reads it without a locale
    assert [strings.from_texts(text, "").a.tolist() for text in ("é", escaped)] == [[0xE9], [0xE9]]
    with pytest.raises(InstanceError, match="^--text:1: found byte 0xff at offset 1, expected a text in utf-8"):
        strings.from_texts("a", "a\udcff")


def test_what_is_not_there_is_refused_by_its_name(tmp_path):
    path = saved(tmp_path / "two.fa", TWO + b">one\nA\n")
    text = saved(tmp_path / "x.txt", b"x")
    for spec, message in [
        (f"{path}:three", ": found no record 'three', expected one of one, chr2:5-9, one"),
        (f"{path}:one", ":9: found record 'one' again, expected one record of this name"),
        (f"{text}:one", ": found a text, and record 'one' asked for, expected a FASTA file"),
    ]:
        with pytest.raises(InstanceError) as caught:
            strings.load_string(spec)
        assert str(caught.value).startswith(spec.rpartition(":")[0] + message)
    for spec in ("none.fa", "none.fa:one", "", "randoms:5"):
        with pytest.raises(InstanceError, match=f"^{spec}: found no such file, expected a FASTA file, FILE:RECORD"):
            strings.load(spec)
    with pytest.raises(InstanceError, match="found one string, expected two files, or a FASTA file with two records"):
        strings.load(text)
    with pytest.raises(InstanceError, match="nowhere: found no such folder"):
        strings.load_string("x.txt", "nowhere")
    with pytest.raises(InstanceError, match="found one record, expected two"):
        strings.load(f"{path}:chr2:5-9")


def test_the_digest_is_of_the_content_and_tells_where_a_string_ends():
    pairs = [(b"ab", b"c"), (b"a", b"bc"), (b"", b"abc"), (b"c", b"ab")]
    digests = {problem.StringPair("x", *pair).sha256 for pair in pairs}
    assert len(digests) == 4
    assert problem.StringPair("y", *pairs[0], source="elsewhere").sha256 in digests
    assert problem.StringPair("x", b"ab", b"c").sha256 == hashlib.sha256(b"strings 2 1\nabc").hexdigest()


# --- generators ---


def test_long_strings_are_drawn_in_parts(monkeypatch):
    whole = strings.random_strings(100, 77, seed=3)
    monkeypatch.setattr(strings, "_CHUNK", 13)
    assert all(np.array_equal(*pair) for pair in zip(whole, strings.random_strings(100, 77, seed=3), strict=True))


def test_random_strings_stay_the_same_for_ever():
    pair = strings.generate("random:1000:seed=5")
    assert pair.name == "random:1000:other=1000:letters=4:seed=5"
    assert bytes(pair.a[:20]) == b"CTAAACTGCGCATCTTTCAC"
    assert pair.sha256 == "99518b3b77174e61fbd74db30de7030693060ea9b8184fc28f4f6f7c620e2fbf"
    assert strings.generate("random:1000:other=1000:letters=4:seed=5").sha256 == pair.sha256
    assert [len(strings.generate("random:5:other=0").a), len(strings.load("random:5:other=0").b)] == [5, 0]
    assert strings.generate("half:1000").sha256 == "e356153444247cf3a7c6d283bb6a96f11287c8e87302e2611b68412e0e3b720c"


@pytest.mark.parametrize("length", [0, 1, 2, 3, 64, 65, 501])
def test_half_of_the_strings_is_in_common(length):
    for seed in (1, 2):
        pair = strings.generate(f"half:{length}:seed={seed}")
        assert len(pair.a) == len(pair.b) == length
        assert pair.optimum == length // 2 == by_table(bytes(pair.a), bytes(pair.b))
    others = set(bytes(pair.a)) - set(b"ACGT"), set(bytes(pair.b)) - set(b"ACGT")
    assert others[0] <= set(b"BDEF") and others[1] <= set(b"HIJK")


# --- the letters, and the scorer ---

UNICODE = st.text("aé日本😀", max_size=40) | st.text(max_size=40)


@settings(max_examples=60)
@given(UNICODE, UNICODE)
def test_codes_match_as_code_points_do(a, b):
    pair = problem.StringPair("x", a, b)
    matches = [[code == other for other in pair.b.tolist()] for code in pair.a.tolist()]
    assert matches == [[letter == other for other in b] for letter in a]
    assert problem.lcs_length(a, b) == problem.lcs_length(pair.a, pair.b) == by_table(a, b) <= pair.most_in_common()
    together = np.argwhere(np.reshape(matches, (len(a), len(b))))
    assert pair.subsequence(together) == "".join(a[i] for i, _ in together)
    assert pair.sha256 == problem.StringPair("y", a, b).sha256 != problem.StringPair("x", b + "日", a).sha256


def test_many_letters_in_both_strings_have_wide_codes():
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 255)))
    narrow = problem.StringPair("x", letters[1:] + "a", letters[1:] + "b")
    wide = problem.StringPair("x", letters, letters)
    assert (narrow.a.dtype, wide.a.dtype, wide.most_in_common()) == (np.uint8, np.uint16, 255)
    assert narrow.a.tolist() == [*range(2, 256), 0] and narrow.b.tolist() == [*range(2, 256), 1]


def test_the_scorer_says_what_is_wrong():
    pair = problem.StringPair("x", b"ABCBDAB", b"BDCABA", optimum=4)

    def objection(*pairs, length=4):
        return pair.objection(length, np.array(pairs, np.int64).reshape(-1, 2))

    right = [(1, 0), (2, 2), (3, 4), (5, 5)]
    assert pair.objection(4) is None
    assert objection(*right) is None
    assert pair.objection(3) == "length 4 by the strings' making"
    assert pair.objection(-1) == "at most 6 letters in common, not -1"
    assert pair.objection(7) == "at most 6 letters in common, not 7"
    assert objection(*right[:3]) == "pairs of shape (3, 2), not (4, 2)"
    assert objection(*right[:3], (5, 6)) == "a position outside the strings"
    assert objection((-1, 0), *right[1:]) == "a position outside the strings"
    assert objection(*right[:3], (5, 4)) == "pair 3 not behind the one before"
    assert objection((0, 0), *right[1:]) == "different letters in pair 0"
    assert problem.StringPair("x", b"", b"a").objection(0, np.empty((0, 2), np.int64)) is None


def test_a_string_beyond_positions_of_32_bits_is_refused(monkeypatch):
    monkeypatch.setattr(problem, "LONGEST", 5)
    with pytest.raises(InstanceError, match="^x: found a string of 6 letters, expected at most 5$"):
        problem.StringPair("x", b"", b"abcdef")
