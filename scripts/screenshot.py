"""The part of scripts/screenshot that runs the program, follows the screen and draws it."""

import codecs
import fcntl
import glob
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

import pyte
from PIL import Image, ImageDraw, ImageFont

SIZE, CELL, PAD = 15, (9, 19), 14
DARK = {"default": (216, 216, 216), "back": (24, 24, 27)}
LIGHT = {"default": (40, 40, 44), "back": (253, 253, 250)}
NAMES = ["black", "red", "green", "brown", "blue", "magenta", "cyan", "white"]
ON_DARK = [(90, 90, 90), (224, 108, 117), (126, 190, 114), (209, 154, 102), (97, 155, 239), (198, 120, 221), (86, 182, 194), (216, 216, 216)]
ON_LIGHT = [(40, 40, 44), (190, 40, 45), (30, 120, 40), (150, 100, 10), (30, 80, 180), (150, 40, 160), (10, 120, 130), (110, 110, 110)]


class Screen(pyte.HistoryScreen):
    """pyte knows no dim text; it is kept as a colour of its own."""

    dim = False

    def select_graphic_rendition(self, *attributes, **flags):
        if flags.get("private"):
            return
        # 0 resets, 1 and 22 end dim; the rest is pyte's.
        for attribute in attributes or (0,):
            if attribute == 2:
                self.dim = True
            elif attribute in (0, 22):
                self.dim = False
        super().select_graphic_rendition(*[a for a in attributes or (0,) if a != 2])
        if self.dim:
            self.cursor.attrs = self.cursor.attrs._replace(blink=True)

    def report_device_status(self, mode, **flags):
        super().report_device_status(mode)

    def set_margins(self, *arguments, **flags):
        if not flags.get("private"):
            super().set_margins(*arguments)

    def write_process_input(self, data):
        os.write(self.terminal, data.encode())


def font(bold, italic):
    names = {
        (False, False): ["DejaVuSansMono", "LiberationMono-Regular"],
        (True, False): ["DejaVuSansMono-Bold", "LiberationMono-Bold"],
        (False, True): ["DejaVuSansMono-Oblique", "LiberationMono-Italic"],
        (True, True): ["DejaVuSansMono-BoldOblique", "LiberationMono-BoldItalic"],
    }[bold, italic]
    for name in names:
        found = glob.glob(f"/usr/share/fonts/**/{name}.ttf", recursive=True) + glob.glob(f"/Library/Fonts/**/{name}.ttf", recursive=True)
        if found:
            return ImageFont.truetype(found[0], SIZE)
    sys.exit("screenshot: no monospace font was found; install DejaVu Sans Mono (apt-get install fonts-dejavu-core)")


def draw(screen, path, light):
    theme, palette = (LIGHT, ON_LIGHT) if light else (DARK, ON_DARK)
    fonts = {(b, i): font(b, i) for b in (False, True) for i in (False, True)}
    size = (screen.columns * CELL[0] + 2 * PAD, screen.lines * CELL[1] + 2 * PAD)
    image = Image.new("RGB", size, theme["back"])
    canvas = ImageDraw.Draw(image)

    def colour(name, bright):
        name = name.removeprefix("bright")
        return palette[NAMES.index(name)] if name in NAMES else theme["default"]

    for y in range(screen.lines):
        for x in range(screen.columns):
            cell = screen.buffer[y][x]
            left, top = PAD + x * CELL[0], PAD + y * CELL[1]
            front, back = colour(cell.fg, cell.bold), theme["back"]
            if cell.blink:
                front = tuple((f * 11 + b * 9) // 20 for f, b in zip(front, back))
            if cell.reverse:
                front, back = back, front
                canvas.rectangle([left, top, left + CELL[0] - 1, top + CELL[1] - 1], fill=back)
            if cell.data.strip():
                canvas.text((left, top + 1), cell.data, fill=front, font=fonts[cell.bold, cell.italics])
            if cell.underscore:
                canvas.line([left, top + CELL[1] - 3, left + CELL[0] - 1, top + CELL[1] - 3], fill=front)
            if cell.strikethrough:
                canvas.line([left, top + CELL[1] // 2, left + CELL[0] - 1, top + CELL[1] // 2], fill=front)
    if not screen.cursor.hidden:
        left, top = PAD + screen.cursor.x * CELL[0], PAD + screen.cursor.y * CELL[1]
        canvas.rectangle([left, top + 1, left + 1, top + CELL[1] - 2], fill=theme["default"])
    image.save(path)


def main():
    arguments = sys.argv[1:]
    if "--" not in arguments:
        sys.exit("screenshot: say what to run after --")
    cut = arguments.index("--")
    options, program = arguments[:cut], arguments[cut + 1 :]
    path, options = options[0], options[1:]
    size, light, settle, text, steps = (80, 24), False, 0.3, False, []
    while options:
        name = options.pop(0)
        if name == "--light":
            light = True
        elif name == "--text":
            text = True
        elif name in ("--size", "--wait", "--keys", "--settle") and options:
            value = options.pop(0)
            if name == "--size":
                size = tuple(int(part) for part in value.split("x"))
            elif name == "--settle":
                settle = float(value)
            else:
                steps.append((name, value))
        else:
            sys.exit(f"screenshot: unknown option {name}")

    child, terminal = pty.fork()
    if child == 0:
        os.environ.setdefault("TERM", "xterm-256color")
        os.execvp(program[0], program)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    screen = Screen(size[0], size[1])
    screen.terminal = terminal
    stream = pyte.Stream(screen)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    ended = False

    def read(timeout):
        nonlocal ended
        if ended or not select.select([terminal], [], [], timeout)[0]:
            return False
        try:
            data = os.read(terminal, 65536)
        except OSError:
            data = b""
        ended = not data
        stream.feed(decoder.decode(data))
        return True

    def shown():
        return "\n".join(line.rstrip() for line in screen.display)

    for name, value in steps:
        if name == "--keys":
            os.write(terminal, codecs.decode(value.replace("\\e", "\\x1b").encode("latin-1", "backslashreplace"), "unicode_escape").encode())
            continue
        deadline = time.monotonic() + 20
        while value not in shown():
            if ended or time.monotonic() > deadline:
                sys.exit(f"screenshot: {value!r} did not come; the screen:\n{shown()}")
            read(0.1)
    while read(settle):
        pass
    draw(screen, path, light)
    if text:
        print(shown().rstrip())
    try:
        os.kill(child, signal.SIGHUP)
    except ProcessLookupError:
        pass


main()
