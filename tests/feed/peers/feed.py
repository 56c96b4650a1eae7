# SPDX-License-Identifier: GPL-2.0-or-later
"""nfdns-feed as a test runs and sees it: its configuration, the table that it
keeps, its status file, its log."""
import json
import os
import pathlib
import re
import signal
import tempfile
import time

from . import messages
from .authority import SERVER
from .peer import popen
from shared import BUILD
from netlab.namespace import stop
from netlab.outcome import WAIT_S, Failure, expect, wait_until

NAME = "mesh"
USER = 65533        # nfdns-feed refuses to run as root
UNPRIVILEGED = ("setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups",
                "--pdeathsig", "KILL")


def read_table(path):
    """(header, names) of a kept NameTable; (None, None) if there is none."""
    try:
        octets = path.read_bytes()
    except FileNotFoundError:
        return None, None
    head, empty, body = octets.partition(b"\n\n")
    lines = head.decode("ascii").split("\n")
    expect(empty and lines[0] == "nfdns-feed 1", f"{path} begins with {octets[:80]}")
    header = dict(line.partition(" ")[::2] for line in lines[1:])
    expect(int(header["length"]) == len(body), f"{path}: {header}, {len(body)} octets")
    return header, messages.names(body)


class Feed:
    """One feed of type xds, in clear text unless there are roots.

    host: that istiod is known by.  cert, key, token: octets of the files; None: not configured."""

    program = BUILD / "nfdns-feed"

    def __init__(self, peer, roots=None, cert=None, key=None, token=None, host=None, node="",
                 more="", space=None, wrapper=(), environment=None):
        self.space, self.wrapper = space, wrapper
        self.environment = [f"{name}={value}" for name, value in (environment or {}).items()]
        self.temporary = tempfile.TemporaryDirectory(prefix="nfdns-feed-")
        self.directory = pathlib.Path(self.temporary.name)
        self.state, self.run = self.directory / "state", self.directory / "run"
        self.state.mkdir()
        self.run.mkdir()
        self.directory.chmod(0o755)
        for directory in (self.state, self.run):
            os.chown(directory, USER, USER)
        self.table_file = self.state / f"{NAME}.table"
        self.config, self.log_file = self.directory / f"{NAME}.conf", self.directory / "log"
        self.process = None
        if roots is not None:
            rows = [f'server = "{host or SERVER}:{peer.port}";',
                    f'addresses = [ "{peer.host}" ];']
        else:
            rows = ['plaintext = true;', f'server = "{host or peer.host}:{peer.port}";']
        for option, octets in (("root_cert", roots), ("cert", cert), ("key", key),
                               ("token", token)):
            if octets is not None:
                self.put(option, octets)
                rows.append(f'{option} = "{self.directory / option}";')
        self.config.write_text(f"""
state_dir = "{self.state}";
run_dir = "{self.run}";
log = {{ level = "debug"; }};
type = "xds";
{' '.join(rows)}
node = {{ namespace = "shop"; cluster = "Kubernetes"; service_account = "vm"; {node} }};
{more}
""")

    def put(self, option, octets):
        """Replaces a file of the configuration, as the agent does: by rename."""
        fresh = self.directory / f"{option}.new"
        fresh.write_bytes(octets)
        os.replace(fresh, self.directory / option)

    def start(self):
        with open(self.log_file, "ab") as log:
            command = [*self.wrapper, *UNPRIVILEGED, "env", *self.environment, self.program,
                       "-c", self.config]
            start = self.space.popen if self.space else popen
            self.process = start(command, stdout=log, stderr=log)
        return self

    def log(self):
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def _alive(self, what):
        if self.process.poll() is not None:
            raise Failure(f"{what}: nfdns-feed ended with {self.process.returncode}:"
                          f" {self.log()[-1000:]}")

    def wait(self, condition, what, timeout=WAIT_S):
        def look():
            value = condition()
            if not value:
                self._alive(what)
            return value
        try:
            return wait_until(look, what, timeout)
        except Failure as why:
            raise Failure(f"{why}; {self.log()[-1500:]}") from None

    def wait_log(self, pattern, timeout=WAIT_S):
        """Until its log has a line with that regular expression."""
        return self.wait(lambda: re.search(pattern, self.log()), f"/{pattern}/ in the log",
                         timeout)

    def header(self):
        return read_table(self.table_file)[0]

    def names(self):
        return read_table(self.table_file)[1]

    def wait_names(self, names, timeout=WAIT_S):
        """Until exactly these are kept."""
        wanted = {name: [a] if isinstance(a, str) else a for name, a in names.items()}
        self.wait(lambda: self.names() == wanted, f"a table of {len(wanted)} names", timeout)

    def status(self):
        try:
            return json.loads((self.run / f"{NAME}.json").read_text())
        except FileNotFoundError:
            return None

    def wait_status(self, where, what, timeout=WAIT_S):
        return self.wait(lambda: (found := self.status()) and where(found) and found, what, timeout)

    def runs(self):
        """Whether what was started before it has become it."""
        return pathlib.Path(f"/proc/{self.process.pid}/comm").read_text() == "nfdns-feed\n"

    def end(self):
        """SIGTERM: it must end by it, and well."""
        if self.process is None:
            return
        began = time.monotonic()
        status = self.process.poll()
        expect(status is None, f"nfdns-feed ended by itself with {status}: {self.log()[-1000:]}")
        expect(stop(self.process, signal.SIGTERM) == 0,
               f"status {self.process.returncode} after {time.monotonic() - began:.1f} s:"
               f" {self.log()[-1000:]}")

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.end()
            elif self.process is not None:
                stop(self.process)
        finally:
            self.temporary.cleanup()
