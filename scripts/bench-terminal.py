"""What the interactive terminal costs and how fast it answers, measured from the other end of a
pseudo-terminal: scripts/bench terminal. Nothing here passes or fails.

The model is scripted and on loopback. A prompt with the word "stream" is answered with 2,000 tokens
(12.9 kB), 200 a second; every other one at once.
"""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time

ona = sys.argv[1]
TOKENS, TEXT, RATE = 2000, 12_900, 200
WORDS = (
    "## What was found\n\nThe gate is `open` when **every** criterion has a test that passed after the last change of "
    "the project. Three places matter for that, and each of them was read before anything was changed.\n\n"
    "- `gate.rs` decides, and it is pure\n- `runs.rs` keeps what was run, with the digest of the script\n"
    "- the report only shows what the two of them say\n\n"
    "| file | lines | what it does |\n|---|--:|---|\n| gate.rs | 120 | decides whether verify may start |\n\n"
)
REPLY = (WORDS * (TEXT // len(WORDS) + 1))[:TEXT]
# Neither the reply nor the screen has this letter, so that an echo is recognised in any output.
KEY = b"Z"


def row(what, value, goal=""):
    print(f"{what:<60} {value:>22}   {goal}", flush=True)


class Model(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            line, _ = self.listener.accept()
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(line,), daemon=True).start()

    def serve(self, line):
        text = bytearray()
        while True:
            while b"\r\n\r\n" not in text:
                more = line.recv(1 << 20)
                if not more:
                    return
                text += more
            at = text.index(b"\r\n\r\n")
            head, body = bytes(text[:at]), text[at + 4 :]
            length = re.search(rb"content-length: *(\d+)", head, re.I)
            length = int(length[1]) if length else 0
            while len(body) < length:
                body += line.recv(1 << 20)
            request, text = bytes(body[:length]), body[length:]
            try:
                self.answer(line, request)
            except OSError:
                return

    def answer(self, line, request):
        try:
            last = json.dumps(json.loads(request)["messages"][-1])
        except (ValueError, KeyError, IndexError):
            last = ""
        line.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")

        def send(event):
            data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            line.sendall(b"%x\r\n%s\r\n" % (len(data), data))

        send({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}})
        send({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        delta = lambda text: send({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
        if "number" in last:
            for number in range(1, 201):
                time.sleep(0.02)
                delta(f"word{number:03}" + ("\n\n" if number % 60 == 0 else "." if number == 200 else " "))
        elif "stream" in last:
            began = time.perf_counter()
            for token in range(TOKENS):
                time.sleep(max(0, began + token / RATE - time.perf_counter()))
                delta(REPLY[TEXT * token // TOKENS : TEXT * (token + 1) // TOKENS])
            delta("\n\nThat was all.")
        else:
            delta("pong")
        send({"type": "content_block_stop", "index": 0})
        send({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}})
        send({"type": "message_stop"})
        line.sendall(b"0\r\n\r\n")


class Terminal:
    def __init__(self, argv, env, size=(120, 40)):
        self.began = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            os.execve(argv[0], argv, env)
        self.output = bytearray()
        self.frames = []

    def read(self, timeout):
        """One piece of output; False if nothing came."""
        if not select.select([self.fd], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            return False
        if data:
            self.output += data
            self.frames.append(time.perf_counter())
            if b"\x1b[6n" in data:
                os.write(self.fd, b"\x1b[1;1R")
        return bool(data)

    def wait(self, wanted, start, limit=30):
        """Until the output since `start` contains something; the time when it did."""
        deadline = time.perf_counter() + limit
        while (at := self.output.find(wanted, start)) < 0:
            if time.perf_counter() > deadline:
                sys.exit(f"bench: {wanted!r} did not come; the last output: {bytes(self.output[-600:])!r}")
            self.read(0.5)
        return time.perf_counter()

    def quiet(self, seconds=0.4):
        while self.read(seconds):
            pass

    def send(self, keys):
        os.write(self.fd, keys)

    def cpu(self):
        fields = open(f"/proc/{self.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def pss(self):
        text = open(f"/proc/{self.pid}/smaps_rollup").read()
        return int(re.search(r"^Pss: +(\d+)", text, re.M)[1]) / 1024

    def echo(self, keys, during=lambda: True):
        """Milliseconds from a key to its letter in the output; each is deleted again."""
        times = []
        for _ in range(keys):
            if not during():
                break
            start, began = len(self.output), time.perf_counter()
            self.send(KEY)
            times.append((self.wait(KEY, start) - began) * 1e3)
            self.send(b"\x7f")
            until = time.perf_counter() + 0.04
            while (left := until - time.perf_counter()) > 0:
                self.read(left)
        return times

    def end(self):
        began = time.perf_counter()
        self.send(b"\x04")
        while self.read(5):
            pass
        took = time.perf_counter() - began
        os.waitpid(self.pid, 0)
        return took


def spread(times):
    times = sorted(times)
    return f"{statistics.median(times):.1f} / {times[int(len(times) * 0.95)]:.1f} ms"


def resizes(env, sizes):
    """Two resizes in mid-stream, in tmux, which wraps its rows anew: words lost and doubled, lines of the shell left."""
    home = env["HOME"]
    # A server that was told to end may still have the last one.
    socket_path = os.path.join(home, f"tmux-{sizes[0][0]}x{sizes[0][1]}")

    def tmux(*arguments):
        command = ["tmux", "-S", socket_path, "-f", "/dev/null", *arguments]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    def everything():
        return tmux("capture-pane", "-p", "-J", "-S", "-")

    def wait(text):
        for _ in range(400):
            if text in everything():
                return
            time.sleep(0.05)
        sys.exit(f"bench: {text} did not come; the screen:\n{everything()}")

    (width, height), *later = sizes
    shell = f"for n in $(seq 1 60); do echo shell-line-$n.; done; exec {ona}"
    tmux("new-session", "-d", "-x", str(width), "-y", str(height), shell)
    try:
        tmux("set", "-g", "status", "off")
        tmux("set", "-g", "window-size", "manual")
        time.sleep(1)
        tmux("send-keys", "-l", "number")
        wait("number")
        # An Enter right behind other keys is part of a paste.
        time.sleep(0.5)
        tmux("send-keys", "Enter")
        for mark, (width, height) in zip(("word050", "word110"), later):
            wait(mark)
            tmux("resize-window", "-x", str(width), "-y", str(height))
        wait("word200")
        time.sleep(1)
        text = everything()
    finally:
        tmux("kill-server")
    counts = [text.count(f"word{number:03}") for number in range(1, 201)]
    lines = sum(text.count(f"shell-line-{number}.") == 1 for number in range(1, 61))
    return f"{counts.count(0)}, {sum(count > 1 for count in counts)}, {lines}"


def main():
    model = Model()
    home = os.environ["HOME"]
    env = dict(
        HOME=home, PATH=os.environ["PATH"], TERM="xterm-256color", AGENT_SDLC_DB=os.path.join(home, "terminal.db"), ONA_TRUST="always",
        ANTHROPIC_API_KEY="scripted", ANTHROPIC_BASE_URL=model.url, LANG="C.UTF-8",
    )
    row("measured (120x40)", "value", "goal")
    first, shown = [], []
    for number in range(6):
        terminal = Terminal([ona], env)
        terminal.send(KEY)
        # What the terminal itself echoes before it is taken over does not count.
        paint = terminal.wait(b"\x1b[", 0) - terminal.began
        echoed = terminal.wait(KEY, terminal.output.find(b"\x1b[")) - terminal.began
        if number:
            first.append(paint * 1e3)
            shown.append(echoed * 1e3)
        terminal.send(b"\x7f")
        terminal.quiet()
        terminal.end()
    row("start to first paint / typed letter shown, median of 5", f"{statistics.median(first):.0f} / {statistics.median(shown):.0f} ms", "<= 15 / 30 ms")

    terminal = Terminal([ona], env)
    terminal.wait(b"\x1b[", 0)
    terminal.quiet(1)
    row("PSS after start", f"{terminal.pss():.1f} MiB", "<= 20 MiB")
    row("echo, idle, median / p95 of 100", spread(terminal.echo(100)), "<= 1 / 2 ms")

    answers = []
    for _ in range(5):
        terminal.send(b"ping")
        terminal.quiet(0.3)
        start, began = len(terminal.output), time.perf_counter()
        terminal.send(b"\r")
        answers.append((terminal.wait(b"pong", start) - began) * 1e3)
        terminal.quiet()
    row("Enter to a short reply shown, median of 5", f"{statistics.median(answers):.0f} ms", "<= 15 ms")

    def stream(typing):
        terminal.send(b"stream")
        terminal.quiet(0.3)
        start, frames, cpu = len(terminal.output), len(terminal.frames), terminal.cpu()
        terminal.send(b"\r")
        over = lambda: terminal.output.find(b"That was all", start) >= 0
        times = []
        if typing:
            terminal.wait(b"gate", start)
            times = terminal.echo(100, lambda: not over())
        terminal.wait(b"That was all", start)
        terminal.quiet()
        return len(terminal.output) - start, len(terminal.frames) - frames, terminal.cpu() - cpu, times

    count, frames, cpu, _ = stream(False)
    row("2,000 tokens, 12.9 kB, 10 s: bytes", f"{count / 1000:.1f} kB", "<= 40 kB")
    row("  writes a second", f"{frames / (TOKENS / RATE):.0f}", "<= 30")
    row("  CPU", f"{cpu:.2f} s", "<= 0.3 s")
    row("echo while it streams, median / p95", spread(stream(True)[3]), "<= 2 / 5 ms")

    terminal.quiet(1)
    start, cpu, began = len(terminal.output), terminal.cpu(), time.perf_counter()
    while (left := began + 20 - time.perf_counter()) > 0:
        terminal.read(left)
    row("idle for 20 s: bytes, CPU", f"{len(terminal.output) - start} B, {(terminal.cpu() - cpu) / 20 * 100:.2f} %", "0 B, <= 0.1 %")
    row("PSS now", f"{terminal.pss():.1f} MiB", "<= 30 MiB after 100 turns")
    bad = [text for text in (b"\x1b[2J", b"\x1b[3J") if text in terminal.output]
    row("the screen was cleared", "yes" if bad else "never", "never")
    if shutil.which("tmux"):
        for sizes in (((120, 40), (80, 24), (100, 30)), ((80, 24), (140, 50), (60, 20)), ((100, 30), (50, 30), (100, 20))):
            path = " to ".join(f"{width}x{height}" for width, height in sizes)
            row(f"resizes, {path}: lost, doubled, shell lines", resizes(env, sizes), "0, 0, 60")
    row("Ctrl-D to the end", f"{terminal.end() * 1e3:.0f} ms", "<= 30 ms")


main()
