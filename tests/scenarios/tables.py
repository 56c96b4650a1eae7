# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the files tests/scenarios/*.table; README.md there describes them."""
import ipaddress
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
WAYS = ("udp4", "udp6", "tcp4", "tcp6")
CLIENTS = {4: "192.0.2.1", 6: "2001:db8::1"}
NAMESERVERS = {4: "192.0.2.53", 6: "2001:db8::53"}
COLUMNS = ("question", "asker", "decision", "rule", "observed", "answer")
BLOCKS = ("config", "mesh", "policy")
FORMATS = ("hosts", "zone", "nds", "kubernetes")


class Bad(Exception):
    pass


class Row:
    """One question, its asker, and what is expected."""

    def __init__(self, line, cells):
        self.line = line
        self.name, self.type, *options = cells["question"].split()
        self.edns = "1232"
        for option in options:
            if option == "noedns":
                self.edns = "-"
            elif option.startswith("size="):
                self.edns = option[5:]
            else:
                raise Bad(f"line {line}: no option of a question: {option}")
        self.uid = self.gid = "1000"
        self.client = self.nameserver = None
        self.ways = WAYS
        self.timed = False
        self.after = 0.0
        for word in filter(None, (w.strip() for w in cells.get("asker", "").split(","))):
            self.take_asker(word)
        self.decision = cells["decision"]
        self.rule = cells.get("rule", "") or "-"
        self.observed = cells.get("observed")
        self.answer = cells.get("answer", "")

    def take_asker(self, word):
        key, _, value = word.partition(" ")
        if word in ("udp", "tcp"):
            self.ways = tuple(w for w in self.ways if w.startswith(word))
        elif word in ("ipv4", "ipv6"):
            self.ways = tuple(w for w in self.ways if w.endswith(word[-1]))
        elif key in ("uid", "gid"):
            setattr(self, key, "-" if value == "?" else value)
        elif key in ("from", "to"):
            version = str(ipaddress.ip_address(value).version)
            self.ways = tuple(w for w in self.ways if w.endswith(version))
            setattr(self, "client" if key == "from" else "nameserver", value)
        elif key == "after":
            self.after, self.timed = float(value.removesuffix("s")), True
        else:
            raise Bad(f"line {self.line}: nothing about an asker: {word}")

    def addresses(self, way):
        version = int(way[-1])
        return (self.client or CLIENTS[version], self.nameserver or NAMESERVERS[version])

    def words(self, way):
        """The line that ask_tool reads."""
        client, nameserver = self.addresses(way)
        return (f"{way[:3]} {client} {nameserver} {self.uid} {self.gid} {1000 + self.after:.3f}"
                f" {self.edns} {self.name} {self.type}")


class Table:
    """One file: what nfdnsd is configured with, and the rows."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.name = self.path.stem
        self.blocks = {}
        self.sources = []			# (format, text), in order
        self.files = {}
        self.dig = False
        self.rows = []
        lines = self.path.read_text().splitlines()
        at, header = 0, None
        while at < len(lines):
            line = lines[at]
            at += 1
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith("|"):
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                if set("".join(cells)) <= {"-"}:
                    continue
                if header is None:
                    header = cells
                    if set(header) - set(COLUMNS):
                        raise Bad(f"line {at}: columns are {', '.join(COLUMNS)}")
                elif len(cells) != len(header):
                    raise Bad(f"line {at}: {len(cells)} cells, {len(header)} columns")
                else:
                    self.rows.append(Row(at, dict(zip(header, cells))))
                continue
            header = None
            if line.strip() == "with dig":
                self.dig = True
                continue
            if line[0] in " \t" or not line.rstrip().endswith(":"):
                raise Bad(f"line {at}: neither a row nor the head of a block: {line}")
            body = []
            while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t"):
                body.append(lines[at])
                at += 1
            self.take_block(at, line.rstrip()[:-1], body)
        if not self.rows:
            raise Bad("no rows")

    def take_block(self, line, head, body):
        strip = min((len(b) - len(b.lstrip()) for b in body if b.strip()), default=0)
        text = "".join(b[strip:] + "\n" for b in body)
        word, _, argument = head.partition(" ")
        if head in BLOCKS:
            self.blocks[head] = text
        elif word in FORMATS:
            self.sources.append((word, argument, text))
        elif word == "file":
            self.files[argument] = text
        else:
            raise Bad(f"line {line}: no such block: {head}")

    def write(self, directory):
        """Writes the tables and files; (tables, the rest) as text of nfdnsd.conf."""
        items = []
        for number, (form, origin, text) in enumerate(self.sources):
            path = directory / f"table{number}"
            path.write_text(text)
            more = f' origin = "{origin}";' if origin else ""
            items.append(f'{{ format = "{form}"; path = "{path}";{more} }}')
        for name, text in self.files.items():
            (directory / name).write_text(text)
        rest = self.blocks.get("config", "").replace("@DIRECTORY@", str(directory))
        if "policy" in self.blocks:
            rest += "policy = (\n" + self.blocks["policy"].replace("@DIRECTORY@", str(directory)).replace(
                "@PACKAGING@", str(HERE.parent.parent / "packaging")).rstrip() + "\n);\n"
        return ", ".join(items), rest

    def config(self, directory):
        """The path of a whole configuration, for what needs no daemon."""
        tables, rest = self.write(directory)
        path = directory / "nfdnsd.conf"
        path.write_text(f'run_dir = "{directory}/run";\nuser = "65533";\nmesh = {{\n'
                        f'{self.blocks.get("mesh", "")}tables = ( {tables} );\n}};\n{rest}')
        return path


def all_tables():
    return [Table(path) for path in sorted(HERE.glob("*.table"))]


def fault_of(row, message):
    """What is wrong with an answer, a dnswire.Message, by the row's last cell; or None."""
    rcode, tc, soa, records, ede, additional = "NOERROR", False, 0, [], None, []
    for item in filter(None, (i.strip() for i in row.answer.split(";"))):
        words = item.split()
        if words[0].isupper() and len(words) == 1 and words[0] not in ("TC", "SOA"):
            rcode = words[0]
        elif item == "TC":
            tc = True
        elif item == "SOA":
            soa = 1
        elif words[0] == "EDE":
            ede = (int(words[1]), " ".join(words[2:]))
        else:
            records.append(item)
    if message.rcode_name != rcode:
        return f"rcode {message.rcode_name}, not {rcode}"
    if bool(message.flags & 0x0200) != tc:
        return f"TC is {'set' if not tc else 'clear'}"
    if [r.type for r in message.authority] != ["SOA"] * soa:
        return f"authority section: {message.authority}"
    got = [text_of(r, row) for r in message.answer]
    if got != [normal(r, row) for r in records]:
        return f"answer section: {got or 'empty'}, not {records or 'empty'}"
    if extended_error(message) != (ede if row.edns != "-" else None):
        return f"extended error {extended_error(message)}, not {ede}"
    return None


class DigMessage:
    """What dig printed, as far as fault_of() looks."""

    class Record:
        def __init__(self, line):
            self.name, ttl, _, self.type, self.data = line.split(None, 4)
            self.ttl = int(ttl)

        def __repr__(self):
            return f"{self.name} {self.ttl} {self.type} {self.data}"

    def __init__(self, text):
        self.rcode_name = re.search(r"status: (\w+)", text)[1]
        flags = re.search(r"^;; flags: ([a-z ]*);", text, re.M)[1].split()
        self.flags = 0x0200 if "tc" in flags else 0
        error = re.search(r"^; EDE: (\d+)(?: \([^)]*\))?(?:: \((.*)\))?", text, re.M)
        self.extended_error = error and (int(error[1]), error[2] or "")
        self.answer, self.authority = self.section(text, "ANSWER"), self.section(text, "AUTHORITY")

    def section(self, text, title):
        found = re.search(rf"^;; {title} SECTION:\n((?:[^;\n].*\n)*)", text, re.M)
        return [self.Record(line) for line in found[1].splitlines()] if found else []


def owner_of(name):
    return name.rstrip(".").lower()


def labels_of(octets):
    """A name in wire format, without pointers, as text."""
    text = ""
    while octets[0] > 0:
        text += octets[1:octets[0] + 1].decode() + "."
        octets = octets[octets[0] + 1:]
    return text


def text_of(record, row):
    data = record.data
    if isinstance(data, tuple):
        data = " ".join(str(d) for d in data)
    # As dig prints them.
    if isinstance(data, bytes) and record.type == "MX":
        data = f"{int.from_bytes(data[:2], 'big')} {labels_of(data[2:])}"
    if isinstance(data, str) and record.type == "TXT" and not data.startswith('"'):
        data = f'"{data}"'
    if isinstance(data, bytes):
        data = data.hex()
    ttl = f" ttl={record.ttl}" if "ttl=" in row.answer else ""
    return f"{owner_of(record.name)} {record.type} {data}{ttl}"


def normal(item, row):
    """"A 10.0.0.1" is of the question's name, "www.test A 10.0.0.1" of another."""
    words = item.split()
    if re.fullmatch(r"[A-Z][A-Z0-9]*", words[0]):
        words.insert(0, row.name)
    words[0] = owner_of(words[0])
    if words[1] in ("CNAME", "PTR", "NS"):
        words[2] = words[2].rstrip(".") + "."
    return " ".join(words)


def extended_error(message):
    """(code, text) of RFC 8914, or None."""
    if hasattr(message, "extended_error"):
        return message.extended_error
    if message.opt is None:
        return None
    octets, at = message.opt.octets, 0
    while at + 4 <= len(octets):
        code = int.from_bytes(octets[at:at + 2], "big")
        length = int.from_bytes(octets[at + 2:at + 4], "big")
        body = octets[at + 4:at + 4 + length]
        if code == 15:
            return int.from_bytes(body[:2], "big"), body[2:].decode("utf-8", "replace")
        at += 4 + length
    return None
