# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Uses files in its folder as programs usually do; fails if anything is unusual.

Run once as it is and once in a trial. The folder has `old.txt` ("old"), `log.txt` ("one"), `big.bin`, and
`runs/1/a.txt`; `data` is a link to `elsewhere`, which has `x.txt` ("x").
"""

import contextlib
import glob
import io
import json
import logging
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.getcwd()


def raises(kind, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except kind as error:
        return error
    raise AssertionError(f"{function} did not raise {kind}")


def text(path, opened=open):
    with opened(path) as file:
        return file.read()


def writes_and_reads_back():
    with open("new.txt", "w") as file:
        file.write("new")
    assert text("new.txt") == text(f"{HERE}/new.txt", io.open) == pathlib.Path("new.txt").read_text() == "new"
    assert os.path.getsize("new.txt") == os.stat(b"new.txt").st_size == 3 and os.access("new.txt", os.R_OK)
    with open("old.txt", "w") as file:
        file.write("newer")
    with open(pathlib.Path("log.txt"), "a") as file:
        file.write(" two")
    with open("runs/1/a.txt", "r+") as file:
        file.seek(1)
        file.write("-")
    assert pathlib.Path("old.txt").read_text() == "newer" and text("log.txt") == "one two"
    assert text("runs/1/a.txt") == "a-a" and text("data/x.txt") == text("elsewhere/x.txt") == "x"
    pathlib.Path("data/x.txt").write_text("y")
    assert text("elsewhere/x.txt") == "y"
    raises(FileExistsError, open, "old.txt", "x")
    assert raises(FileNotFoundError, open, "nowhere/new.txt", "w").filename == "nowhere/new.txt"
    assert not raises(FileNotFoundError, open, f"{HERE}/none.txt").filename.startswith("/tmp/scratch")
    raises(IsADirectoryError, open, "runs", "w")
    raises(ValueError, open, "new.txt", "wr")
    number = os.open("flags.txt", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.write(number, b"flags")
    os.close(number)
    raises(FileExistsError, os.open, "flags.txt", os.O_CREAT | os.O_EXCL)
    raises(FileNotFoundError, os.open, "none.txt", os.O_WRONLY)
    os.truncate("flags.txt", 2)
    assert text("flags.txt") == "fl"


def makes_and_lists_folders():
    os.makedirs("out/a/b", exist_ok=True)
    os.makedirs("out/a/b", exist_ok=True)
    pathlib.Path("runs/2").mkdir()
    raises(FileExistsError, os.mkdir, "runs")
    raises(FileNotFoundError, os.mkdir, "nowhere/a")
    raises(NotADirectoryError, os.mkdir, "old.txt/a")
    (pathlib.Path("runs/2") / "b.txt").write_text("b")
    assert sorted(os.listdir("runs")) == sorted(os.listdir(pathlib.Path("runs"))) == ["1", "2"]
    assert sorted(os.listdir(b"runs")) == [b"1", b"2"]
    found = {str(entry.path): entry.is_dir() for entry in os.scandir("runs")}
    assert found == {"runs/1": True, "runs/2": True}
    assert [(top, folders, files) for top, folders, files in os.walk("runs") if files] != []
    assert sorted(glob.glob("runs/*/*.txt")) == ["runs/1/a.txt", "runs/2/b.txt"]
    assert sorted(map(str, pathlib.Path("runs").rglob("*.txt"))) == ["runs/1/a.txt", "runs/2/b.txt"]
    assert os.path.isdir("out") and pathlib.Path("out/a").is_dir() and not os.path.isfile("out")
    raises(OSError, os.rmdir, "runs")
    os.removedirs("out/a/b")
    assert not os.path.exists("out")


def moves_and_links():
    os.rename("old.txt", "older.txt")
    assert not os.path.exists("old.txt") and text("older.txt") == "newer"
    os.replace("big.bin", "runs/big.bin")
    assert os.path.getsize("runs/big.bin") == 100 << 20 and not pathlib.Path("big.bin").exists()
    shutil.move("runs", "moved")
    assert sorted(os.listdir("moved")) == ["1", "2", "big.bin"] and text("moved/1/a.txt") == "a-a"
    raises(FileNotFoundError, os.rename, "runs", "again")
    os.symlink("moved", "latest")
    os.symlink(f"{HERE}/elsewhere/x.txt", "link.txt")
    assert os.readlink("latest") == "moved" and os.path.islink("latest")
    assert os.path.realpath("latest/1") == f"{HERE}/moved/1" and text("link.txt") == "y"
    pathlib.Path("latest/new.txt").write_text("through")
    assert text("moved/new.txt") == "through"
    pathlib.Path("link.txt").write_text("z")
    os.link("elsewhere/second.txt", "hard.txt")
    assert text("hard.txt") == "second"
    shutil.copytree("moved/1", "copy")
    shutil.copy2("log.txt", "copy")
    os.chmod("elsewhere/second.txt", 0o600)
    os.utime("elsewhere/second.txt")
    assert sorted(os.listdir("copy")) == ["a.txt", "log.txt"]


def deletes():
    os.remove("log.txt")
    raises(FileNotFoundError, os.remove, "log.txt")
    raises(FileNotFoundError, pathlib.Path("log.txt").read_text)
    assert not pathlib.Path("log.txt").exists() and "log.txt" not in os.listdir(".")
    raises(IsADirectoryError, os.unlink, "full")
    shutil.rmtree("full")
    assert not os.path.isdir("full") and not os.path.exists("full/inner/f.txt")
    raises(FileNotFoundError, open, "full/g.txt", "w")
    os.mkdir("full")
    assert os.listdir("full") == []
    pathlib.Path("full/f.txt").touch()
    assert os.listdir("full") == ["f.txt"] and not os.path.exists("full/inner")
    shutil.rmtree("moved")
    pathlib.Path("older.txt").unlink()
    pathlib.Path("older.txt").unlink(missing_ok=True)


def goes_elsewhere():
    os.makedirs("deep/er")
    os.chdir("deep/er")
    assert os.getcwd() == f"{HERE}/deep/er" == str(pathlib.Path.cwd()) and os.getcwdb() == f"{HERE}/deep/er".encode()
    pathlib.Path("f.txt").write_text("f")
    assert text("../../deep/er/f.txt") == "f" and text("../../elsewhere/second.txt") == "second"
    assert "elsewhere" in os.listdir("../..") and os.path.abspath("f.txt") == f"{HERE}/deep/er/f.txt"
    os.chdir(HERE)


def uses_libraries():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["touch", f"{folder}/f"], check=True)  # a real folder, for other programs
        assert os.listdir(folder) == ["f"]
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            assert os.path.exists(file.name)
    logging.basicConfig(filename="run.log", level=logging.INFO)
    logging.info("logged")
    assert "logged" in pathlib.Path("run.log").read_text()
    child = "import os; print(open('copy/a.txt').read()); open('child.txt', 'w').write('c'); os.mkdir('child')"
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True)
    assert done.stdout == "a-a\n" and text("child.txt") == "c" and os.path.isdir("child")
    (pathlib.Path(HERE) / "module_of_users.py").write_text("x = 1\n")
    with open("/dev/null", "w") as nothing:
        nothing.write("nothing")
    with contextlib.closing(sqlite3.connect("base.sqlite")) as base:
        base.execute("create table t (x)")
        base.commit()
    assert os.path.getsize("base.sqlite") > 0
    sqlite3.connect(":memory:").close()
    with contextlib.suppress(ImportError):
        import numpy

        numpy.save("array.npy", numpy.arange(4))
        numpy.arange(4).tofile("array.bin")
        numpy.savez("arrays.npz", a=numpy.arange(4))
        numpy.memmap("map.bin", dtype="uint8", mode="w+", shape=16)[:] = 1
        assert numpy.load("array.npy").sum() == numpy.load("arrays.npz")["a"].sum() == 6
        assert numpy.fromfile("array.bin", dtype=numpy.arange(4).dtype).sum() == 6


if __name__ == "__main__":
    for act in (
        writes_and_reads_back,
        makes_and_lists_folders,
        moves_and_links,
        deletes,
        goes_elsewhere,
        uses_libraries,
    ):
        act()
    print(json.dumps(sorted(os.listdir("."))))
