"""Getting the published data, from a real server on this machine: faults included."""

import contextlib
import http.server
import json
import shlex
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path

import pytest

import energydb.sources.fetch
from energydb.cli.commands import fetch as fetch_command
from energydb.errors import DataError, DocumentErrors, MachineError, UsageError
from energydb.sources.fetch import Changes, default_url, fetch
from tests.leaderboards import change, change_run, text_row, write_leaderboard

Answer = Callable[[http.server.BaseHTTPRequestHandler], bool]
CHAT = "tasks/lm-arena-chat.json"


class Server:
    """A web server over a folder, in which one path can be made to misbehave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults: dict[str, Answer] = {}
        self.asked: list[str] = []
        server = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def __init__(self, *arguments, **options) -> None:
                super().__init__(*arguments, directory=str(folder), **options)

            def do_GET(self) -> None:
                place = self.path.removeprefix("/data/")
                server.asked.append(place)
                fault = server.faults.get(place)
                if fault is None or not fault(self):
                    self.path = self.path.removeprefix("/data")
                    super().do_GET()

            def log_message(self, *arguments) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/data"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(write_leaderboard(tmp_path / "published"))
    thread = threading.Thread(target=made.http.serve_forever)
    thread.start()
    yield made
    made.http.shutdown()
    made.http.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch):
    """Between attempts: the pauses are for a server's sake, and this one needs none."""
    monkeypatch.setattr(energydb.sources.fetch, "FIRST_PAUSE_S", 0.01)


def answer(status: int, body: bytes = b"", times: int = 10**6, **headers: str) -> Answer:
    """Answer with a status, so many times; then as usual."""
    left = [times]

    def give(handler: http.server.BaseHTTPRequestHandler) -> bool:
        left[0] -= 1
        if left[0] < 0:
            return False
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        return True

    return give


def cut_off(times: int) -> Answer:
    """Promise more than is sent, so many times."""
    left = [times]

    def give(handler: http.server.BaseHTTPRequestHandler) -> bool:
        left[0] -= 1
        if left[0] < 0:
            return False
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"task": "lm-arena-chat"}')
        handler.close_connection = True
        return True

    return give


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_everything_that_is_published_comes(server, tmp_path):
    """Index, tasks and models, byte for byte; and load takes it."""
    changes = fetch(tmp_path / "data", server.url)

    assert snapshot(tmp_path / "data") == snapshot(server.folder)
    assert len(changes.new) == 10
    assert "models/org__Paint-Σ__text-to-image.json" in changes.new
    assert (changes.changed, changes.gone, changes.same) == ((), (), ())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "published"]


@pytest.mark.slow
def test_what_changed_is_said(server, tmp_path):
    """Against what was there."""
    fetch(tmp_path / "data", server.url)
    index = json.loads((server.folder / "index.json").read_text())
    index["tasks"].remove("gpqa")
    index["architectures"]["llm"].remove("gpqa")
    (server.folder / "index.json").write_text(json.dumps(index))

    changes = fetch(tmp_path / "data", server.url)

    assert changes.changed == ("index.json",)
    assert changes.gone == ("models/org__Small-1B__gpqa.json", "tasks/gpqa.json")
    assert len(changes.same) == 7
    same = ("index.json", *changes.same)
    assert fetch(tmp_path / "data", server.url) == Changes(tmp_path / "data", (), (), (), same)


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        (CHAT, answer(500, times=2)),
        (CHAT, answer(503, times=3)),
        ("index.json", answer(429, times=1)),
        (CHAT, cut_off(2)),
    ],
)
def test_a_passing_fault_is_tried_again(server, tmp_path, place, fault):
    """A server that stumbles, or a connection that is cut."""
    server.faults[place] = fault

    fetch(tmp_path / "data", server.url)

    assert snapshot(tmp_path / "data") == snapshot(server.folder)
    assert server.asked.count(place) > 1


def test_a_redirect_is_followed(server, tmp_path):
    server.faults[CHAT] = answer(302, Location="/data/tasks/moved.json")
    shutil.copy(server.folder / CHAT, server.folder / "tasks" / "moved.json")

    fetch(tmp_path / "data", server.url)

    assert (tmp_path / "data" / CHAT).read_bytes() == (server.folder / CHAT).read_bytes()
    assert not (tmp_path / "data" / "tasks" / "moved.json").exists()


FAULTS = [
    (answer(404), DataError, rf"/data/{CHAT}: expected a file, got 404 Not Found"),
    (answer(403), DataError, "expected a file, got 403 Forbidden"),
    (answer(500), MachineError, "the server answered 500 Internal Server Error, 4 times in a row; try again later"),
    (cut_off(10**6), MachineError, "the connection failed: .* 4 times in a row; try again later"),
    (answer(200, b"<html>not here</html>"), DocumentErrors, rf"/data/{CHAT}: \$: expected JSON, got '<'"),
    (answer(200, b'{"task": "gpqa"}'), DocumentErrors, rf"/data/{CHAT}: \$.configurations: expected a value"),
    (answer(302, Location="file:///etc/passwd"), DataError, "can't be fetched"),
    (answer(302, Location=f"/data/{CHAT}"), DataError, "can't be fetched: Exceeded 30 redirects"),
]


@pytest.mark.slow
@pytest.mark.parametrize("there_before", [False, True])
@pytest.mark.parametrize(("fault", "error", "said"), FAULTS, ids=lambda value: str(value)[:30])
def test_a_fault_that_stays_leaves_the_folder_as_it_was(server, tmp_path, fault, error, said, there_before):
    """No folder where there was none, and the old one whole where there was one."""
    if there_before:
        fetch(tmp_path / "data", server.url)
    before = snapshot(tmp_path)
    server.faults[CHAT] = fault

    with pytest.raises(error, match=said) as refused:
        fetch(tmp_path / "data", server.url)

    assert len(str(refused.value).splitlines()) == 1
    assert snapshot(tmp_path) == before
    assert {path.name for path in tmp_path.iterdir()} == {"published"} | ({"data"} if there_before else set())


def test_a_file_that_is_far_too_large_is_not_read_to_its_end(server, tmp_path, monkeypatch):
    """Whether the server says how large it is or not."""
    monkeypatch.setattr(energydb.sources.fetch, "LARGEST_BYTES", 10 * 2**20)
    sent = [0]

    def endless(handler: http.server.BaseHTTPRequestHandler) -> bool:
        handler.send_response(HTTPStatus.OK)
        handler.end_headers()
        handler.close_connection = True
        try:
            while True:
                sent[0] += handler.wfile.write(b" " * 2**20)
        except OSError:
            return True

    server.faults[CHAT] = endless
    with pytest.raises(DataError, match="expected a file of at most 10 MiB, got a larger one"):
        fetch(tmp_path / "data", server.url)

    assert sent[0] < 40 * 2**20


def drip(pause_s: float) -> Answer:
    def give(handler: http.server.BaseHTTPRequestHandler) -> bool:
        handler.send_response(HTTPStatus.OK)
        handler.end_headers()
        handler.close_connection = True
        try:
            while True:
                handler.wfile.write(b" " * 2**16)
                time.sleep(pause_s)
        except OSError:
            return True

    return give


def test_a_server_that_drips_is_given_up(server, tmp_path, monkeypatch):
    """However steadily: a fetch must end."""
    monkeypatch.setattr(energydb.sources.fetch, "LONGEST_S", 0.5)
    server.faults[CHAT] = drip(0.05)

    with pytest.raises(MachineError, match=r"not there after 0\.5 s"):
        fetch(tmp_path / "data", server.url)


def test_a_server_that_says_nothing_is_given_up(server, tmp_path, monkeypatch):
    """After the time-out, as often as it is tried."""
    monkeypatch.setattr(energydb.sources.fetch, "TIMEOUT_S", (1, 0.1))
    server.faults[CHAT] = drip(5)

    with pytest.raises(MachineError, match=r"Read timed out.*4 times in a row"):
        fetch(tmp_path / "data", server.url)


def test_nobody_there(tmp_path):
    with pytest.raises(MachineError, match="Connection refused, 4 times in a row"):
        fetch(tmp_path / "data", "http://127.0.0.1:9/data")


@pytest.mark.parametrize("url", ["file:///etc", "ftp://example.com/x", "/etc", "https://", ""])
def test_only_web_addresses_are_taken(tmp_path, url):
    with pytest.raises(UsageError, match="expected an address that begins with https:// or http://"):
        fetch(tmp_path / "data", url)


@pytest.mark.parametrize("task", ["../../evil", "a/b", ".hidden", "", "x\\y"])
def test_a_name_that_leads_elsewhere_is_refused(server, tmp_path, task):
    """Names come from outside: none may write beside its folder."""
    index = json.loads((server.folder / "index.json").read_text())
    index["tasks"].append(task)
    (server.folder / "index.json").write_text(json.dumps(index))

    with pytest.raises(DataError):
        fetch(tmp_path / "data", server.url)

    assert {path.name for path in tmp_path.iterdir()} == {"published"}


def test_a_folder_with_something_else_is_not_replaced(server, tmp_path):
    """A slip in the folder's name must not cost one's own files."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")

    with pytest.raises(UsageError, match=r"for this data alone, got one with notes\.txt"):
        fetch(tmp_path / "mine", server.url)
    with pytest.raises(UsageError, match="expected a folder, got a file"):
        fetch(tmp_path / "file", server.url)
    assert server.asked == []


def test_the_default_is_where_the_shipped_documents_come_from():
    assert default_url() == "https://raw.githubusercontent.com/ml-energy/leaderboard/master/public/data/"


def test_the_command_lists_what_changed_and_load_takes_it(server, energydb, tmp_path):
    first = energydb("fetch", "data", "--from", server.url)
    again = energydb("fetch", "data", "--from", server.url)
    loaded = energydb("load", "data")

    assert first.stdout.splitlines()[0] == "new      index.json"
    assert first.stderr == "data: 10 new, 0 changed, 0 gone, 0 same. Load it: energydb load data\n"
    assert (again.stdout, again.stderr[:11]) == ("", "data: 0 new")
    assert loaded.returncode == 0
    assert loaded.stdout.count("ML.ENERGY Leaderboard") == 4


def test_the_command_says_a_fault_on_one_line(server, energydb, tmp_path):
    server.faults["index.json"] = answer(404)
    done = energydb("fetch", "data", "--from", server.url)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"energydb: {server.url}/index.json: expected a file, got 404 Not Found\n"


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Yield the address at which a folder is served."""
    made = Server(folder)
    thread = threading.Thread(target=made.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made.url
    finally:
        made.http.shutdown()
        made.http.server_close()
        thread.join()


@pytest.mark.parametrize("model_id", ["org/.hidden", "org/..", "org/", "org/a\\b", "org/a\nb", ".org/Small"])
def test_a_model_whose_name_leads_elsewhere_is_refused(tmp_path, model_id):
    """It comes from outside as a task's does; nothing is asked for by it."""
    folder = write_leaderboard(tmp_path / "published", {"gpqa": [text_row("org/Small-1B")]})
    task = json.loads((folder / "tasks" / "gpqa.json").read_text())
    task["configurations"][0]["model_id"] = model_id
    (folder / "tasks" / "gpqa.json").write_text(json.dumps(task))

    with serving(folder) as url, pytest.raises(DataError, match="expected a name that can only name a file, got"):
        fetch(tmp_path / "data", url)

    assert [path.name for path in tmp_path.iterdir()] == ["published"]


def test_a_name_with_marks_of_addresses_is_fetched(tmp_path):
    """A question mark or a hash would end the path, and a per cent sign begin an escape."""
    model_id = "org/Small #1? 50%25 & more+"
    folder = write_leaderboard(tmp_path / "published", {"gpqa": [text_row("org/Small-1B") | {"model_id": model_id}]})
    with serving(folder) as url:
        fetch(tmp_path / "data", url)

    assert snapshot(tmp_path / "data") == snapshot(folder)
    assert f"models/{model_id.replace('/', '__')}__gpqa.json" in snapshot(tmp_path / "data")


def test_the_command_to_load_what_was_fetched_can_be_typed(tmp_path, capsys):
    """A name with blanks and quotes is one word to a shell; what changed is a line each."""
    odd = tmp_path / 'it\'s "mine"'
    folder = write_leaderboard(tmp_path / "published", {"gpqa": [text_row("org/Small-1B")]})
    with serving(folder) as url:
        fetch_command(odd, url)
        first = capsys.readouterr()
        (odd / "index.json").write_text("{}")
        (odd / "tasks" / "old.json").write_text("{}")
        fetch_command(odd, url)
        second = capsys.readouterr()

    assert shlex.split(first.err.partition("Load it: ")[2]) == ["energydb", "load", str(odd)]
    assert first.out.splitlines() == [
        "new      index.json",
        "new      models/org__Small-1B__gpqa.json",
        "new      tasks/gpqa.json",
    ]
    assert second.out.splitlines() == ["changed  index.json", "gone     tasks/old.json"]
    assert second.err.startswith(f"{odd}: 0 new, 1 changed, 1 gone, 2 same.")


# --- What this energydb doesn't know, or can't load ----------------------------------------------------------


def spoil(folder: Path) -> None:
    """Publish what can't be loaded: a run without its energy, and a field more in its task."""
    change_run(folder / CHAT, 0, energy_per_token_joules=..., ttft_ms=40.5)
    change(folder / "index.json", last_updated="2026-06-01")


def test_what_cannot_be_loaded_arrives_beside_what_can(server, tmp_path):
    """Under the date that it says of itself; what was there stays, and its changes are told."""
    fetch(tmp_path / "data", server.url)
    before = snapshot(tmp_path / "data")
    spoil(server.folder)
    changes = fetch(tmp_path / "data", server.url)

    assert changes.folder == tmp_path / "data-2026-06-01"
    assert snapshot(tmp_path / "data") == before
    assert snapshot(changes.folder) == snapshot(server.folder)
    assert (changes.new, changes.changed, changes.gone) == ((), ("index.json", CHAT), ())
    assert [str(fault) for fault in changes.faults] == [
        f"{server.url}/{CHAT}: $.configurations[0].energy_per_token_joules: expected a value, got no such field"
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"published", "data", "data-2026-06-01"}


@pytest.mark.slow
def test_a_second_such_fetch_of_one_day_takes_the_first_ones_place(server, tmp_path):
    """And what can be loaded again, that of the folder itself; the other stays for who wants it."""
    fetch(tmp_path / "data", server.url)
    sound = snapshot(server.folder)
    spoil(server.folder)
    fetch(tmp_path / "data", server.url)
    change_run(server.folder / CHAT, 1, energy_per_token_joules="0.5")
    again = fetch(tmp_path / "data", server.url)

    assert (again.folder, len(again.faults)) == (tmp_path / "data-2026-06-01", 2)
    assert snapshot(again.folder) == snapshot(server.folder)
    for place, content in sound.items():
        (server.folder / place).write_bytes(content)
    change(server.folder / "index.json", last_updated="2026-07-01")
    mended = fetch(tmp_path / "data", server.url)
    assert (mended.folder, mended.faults, mended.changed) == (tmp_path / "data", (), ("index.json",))
    assert snapshot(tmp_path / "data") == snapshot(server.folder)
    assert {path.name for path in tmp_path.iterdir()} == {"published", "data", "data-2026-06-01"}


def test_where_nothing_was_or_what_could_not_be_loaded_it_takes_its_place(server, tmp_path):
    """There is nothing to keep."""
    spoil(server.folder)
    assert fetch(tmp_path / "data", server.url).folder == tmp_path / "data"
    change(server.folder / "index.json", last_updated="2026-06-02")
    again = fetch(tmp_path / "data", server.url)

    assert (again.folder, again.changed, len(again.faults)) == (tmp_path / "data", ("index.json",), 1)
    assert {path.name for path in tmp_path.iterdir()} == {"published", "data"}


@pytest.mark.slow
def test_the_command_says_what_is_new_and_what_cannot_be_loaded(server, energydb, tmp_path):
    """Exit code 1, and the command that loads what is sound; that works."""
    energydb("fetch", "data", "--from", server.url)
    spoil(server.folder)
    done = energydb("fetch", "data", "--from", server.url)

    assert done.returncode == 1
    assert done.stdout.splitlines() == ["changed  index.json", f"changed  {CHAT}"]
    fault = "$.configurations[0].energy_per_token_joules: expected a value, got no such field"
    assert done.stderr.splitlines() == [
        f"energydb: {server.url}/{CHAT}: {fault}",
        "data-2026-06-01: 0 new, 2 changed, 0 gone, 8 same; 1 fault in 1 file. What is sound of it:"
        " energydb load data-2026-06-01 --keep-going",
        "data: as it was, as all of that can be loaded",
    ]
    loaded = energydb("load", "data-2026-06-01", "--keep-going")
    assert loaded.returncode == 1
    assert "left out: lm-arena-chat: org/Mix-8B: 1 run\n" in loaded.stderr
    assert energydb("load", "data").returncode == 0


def test_a_field_that_is_not_known_is_told_and_no_fault(server, energydb, tmp_path):
    """Once, wherever it is."""
    for place in (0, 1):
        change_run(server.folder / CHAT, place, ttft_ms=40.5)
    change_run(server.folder / "tasks/gpqa.json", 0, ttft_ms=40.5)
    change(server.folder / "index.json", schema_version=4)
    done = energydb("fetch", "data", "--from", server.url)

    assert done.returncode == 0
    assert sorted(done.stderr.splitlines()[:-1]) == [
        "notice: schema_version: a field that energydb doesn't know: a whole number",
        "notice: ttft_ms: a field that energydb doesn't know: a number",
    ]
    assert done.stderr.splitlines()[-1].endswith("Load it: energydb load data")


@pytest.mark.parametrize("said", [{"last_updated": 20260601}, {"last_updated": None}], ids=str)
def test_an_index_without_its_date_is_brought_all_the_same(server, tmp_path, said):
    fetch(tmp_path / "data", server.url)
    change(server.folder / "index.json", **said)
    changes = fetch(tmp_path / "data", server.url)

    assert (changes.folder, len(changes.faults)) == (tmp_path / "data-undated", 1)
    assert snapshot(changes.folder) == snapshot(server.folder)


@pytest.mark.parametrize("said", ["../../evil", "a/b", ""])
def test_a_date_that_leads_elsewhere_is_refused(server, tmp_path, said):
    change(server.folder / "index.json", last_updated=said)
    with pytest.raises(DataError, match="expected a name that can only name a file"):
        fetch(tmp_path / "data", server.url)

    assert {path.name for path in tmp_path.iterdir()} == {"published"}


@pytest.mark.parametrize("model_id", [..., None, 7])
def test_a_run_that_names_no_model_keeps_nothing_from_coming(server, tmp_path, model_id):
    """Others name it, or nobody does."""
    change_run(server.folder / CHAT, 1, model_id=model_id)
    changes = fetch(tmp_path / "data", server.url)

    assert len(changes.faults) == 1
    assert snapshot(tmp_path / "data") == snapshot(server.folder)


def test_what_lies_beside_is_not_replaced(server, tmp_path):
    """Where the folder with the date is somebody's own, nothing is done."""
    fetch(tmp_path / "data", server.url)
    spoil(server.folder)
    (tmp_path / "data-2026-06-01").mkdir()
    (tmp_path / "data-2026-06-01" / "mine.txt").write_text("mine")
    before = snapshot(tmp_path)

    with pytest.raises(
        UsageError, match=r"data-2026-06-01: expected a folder for this data alone, got one with mine"
    ):
        fetch(tmp_path / "data", server.url)
    assert snapshot(tmp_path) == before


@pytest.mark.slow
def test_beside_a_link_or_the_folder_one_is_in(server, tmp_path, monkeypatch):
    """The new one lies where the old one really is."""
    (tmp_path / "disk").mkdir()
    fetch(tmp_path / "disk" / "data", server.url)
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "data")
    monkeypatch.chdir(tmp_path / "disk" / "data")
    spoil(server.folder)

    for named in (tmp_path / "link", Path()):
        assert fetch(named, server.url).folder == tmp_path / "disk" / "data-2026-06-01"
        assert snapshot(tmp_path / "disk" / "data-2026-06-01") == snapshot(server.folder)
        shutil.rmtree(tmp_path / "disk" / "data-2026-06-01")
    monkeypatch.chdir(tmp_path / "disk")
    assert fetch(Path("data"), server.url).folder == Path("data-2026-06-01")
