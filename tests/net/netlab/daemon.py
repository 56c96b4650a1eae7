# SPDX-License-Identifier: GPL-2.0-or-later
"""nfdnsd, and the queue of the kernel that it reads."""
import contextlib
import json
import os
import pathlib
import pwd
import socket
import struct
import tempfile
import time

from shared import BUILD

from .namespace import stop
from .outcome import WAIT_S, Failure, Skip


def nobody():
    """A user that every system has and no test runs as."""
    for name in ("nobody", "daemon"):
        with contextlib.suppress(KeyError):
            pwd.getpwnam(name)
            return name
    raise Skip("neither user nobody nor daemon is here")


def json_lines(path):
    """The objects of a packet log that may still be written: its last line may lack
    its end, and there may be no file yet."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]


# Puts descriptors where a service manager does, and becomes the program:
# count, descriptors, program, arguments.
HAND_OVER = """
import os, sys
count = int(sys.argv[1])
for i in range(count):
    os.dup2(int(sys.argv[2 + i]), 3 + i)
    os.close(int(sys.argv[2 + i]))
if count:
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(count),
                      LISTEN_FDNAMES=os.environ["NAMES_HERE"])
os.execvp(sys.argv[2 + count], sys.argv[2 + count:])
"""


class Daemon:
    """nfdnsd in a namespace, with a config and a table of the test's own."""
    programs = BUILD		# where nfdnsd and nfdns are
    wrapper = ()		# a command that runs nfdnsd
    arguments = ()		# more of nfdnsd's

    def __init__(self, lab, hosts=None, nds=None, mesh="", capture="", queue="", more="",
                 tables=None, space=None, feed_run=None):
        self.lab = lab
        self.space = space or lab.vm
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="d-", dir=lab.directory))
        self.directory.chmod(0o755)
        self.run_dir = self.directory / "run"
        self.run_dir.mkdir()
        if feed_run is not None:	# where nfdns-feed says how it is
            self.run_dir.with_name("run-feed").symlink_to(feed_run)
        self.config = self.directory / "nfdnsd.conf"
        self.table = self.directory / "table"
        self.log = self.directory / "log"
        self.process = None
        if tables is None:
            kind = "nds" if nds is not None else "hosts"
            self.table.write_text(json.dumps(nds) if nds is not None else hosts or "")
            tables = f'{{ format = "{kind}"; path = "{self.table}"; }}'
        self.state = getattr(self, "state", self.directory / "state")
        if "state_dir" not in more:
            more = f'state_dir = "{self.state}";\n{more}'
        self.config.write_text(f"""
run_dir = "{self.run_dir}";
user = "{nobody()}";
capture = {{ {capture} }};
queue = {{ number = 5300; {queue} {"" if "workers" in queue else "workers = 1;"} }};
mesh = {{ {mesh}
  tables = ( {tables} );
}};
{more}
""")

    def environment(self):
        """What it finds in its environment, beside NOTIFY_SOCKET."""
        return {}

    def start(self, wanted="READY=1"):
        """Starts it and waits for its READY=1."""
        path = str(self.directory / "notify")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(path)
        os.chmod(path, 0o666)
        with open(self.log, "ab") as log:
            self.process = self.space.popen(
                [*self.wrapper, self.programs / "nfdnsd", "-c", self.config, *self.arguments],
                stdout=log, stderr=log,
                env=dict(os.environ, NOTIFY_SOCKET=path, **self.environment()),
                start_new_session=True)
        self.lab.processes.append(self.process)
        self.wait_notify(wanted)
        return self

    def wait_notify(self, wanted):
        deadline = time.monotonic() + WAIT_S
        self.notify.settimeout(0.05)
        while time.monotonic() < deadline:
            with contextlib.suppress(TimeoutError):
                said = self.notify.recv(4096).decode(errors="replace")
                if wanted in said.splitlines():
                    return
            if self.process.poll() is not None:
                raise Failure(f"nfdnsd ended with {self.process.returncode}: {self.said()}")
        raise Failure(f"nfdnsd did not say {wanted}: {self.said()}")

    def said(self):
        return self.log.read_text(errors="replace").strip() if self.log.exists() else ""

    def stop(self):
        """SIGTERM; its exit status."""
        status = stop(self.process)
        self.notify.close()
        return status

    def nfdns(self, *words, ok=None):
        return self.space.run([self.programs / "nfdns", "-c", self.config, *words], ok=ok)

    def status(self):
        return json.loads(self.nfdns("status", "--json").stdout)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.stop()


class Faulty(Daemon):
    """nfdnsd with faults that a test can ask for: tests/faulty/nfdnsd.c."""
    programs = BUILD / "faulty"

    def __init__(self, *arguments, tracked=None, **options):
        super().__init__(*arguments, **options)
        self.tracked = tracked	# connections that the rules remember, unless as always
        self.no_fork = self.directory / "no-fork"	# while it exists, fork(2) fails
        self.no_worker = self.directory / "no-worker"	# and here children end at once

    def environment(self):
        return {"NFDNS_NO_FORK": str(self.no_fork), "NFDNS_NO_WORKER": str(self.no_worker),
                **({"NFDNS_TRACKED": str(self.tracked)} if self.tracked else {})}


def queues(space):
    """The rows of nfnetlink_queue: dicts of the columns' names."""
    names = ("number", "portid", "waiting", "copy_mode", "copy_range", "dropped",
             "user_dropped", "last_id", "one")
    text = space.read("/proc/net/netfilter/nfnetlink_queue")
    return [dict(zip(names, map(int, line.split()))) for line in text.splitlines()]


def require_queue(space):
    """Skip where this kernel has no nfnetlink_queue: binds one and lets it go."""
    with space.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as sock:
        sock.bind((0, 0))
        bind = struct.pack("=HHBBH", 8, 1, 1, 0, 0)		# NFQA_CFG_CMD: BIND
        body = struct.pack("!BBH", 0, 0, 65000) + bind
        sock.send(struct.pack("=IHHII", 16 + len(body), 3 << 8 | 2, 5, 1, 0) + body)
        sock.settimeout(5)
        answer = sock.recv(4096)
        (error,) = struct.unpack_from("=i", answer, 16)
    if error != 0:
        raise Skip(f"no netfilter queue in this kernel: {os.strerror(-error)}")
