# SPDX-License-Identifier: MIT
"""
Kernel-doc comments of the uapi and of the driver, as pages for Sphinx.

The kernel's own scripts/kernel-doc is in no package but the kernel's source, and hawkmoth is not
in Debian 12; this reads the subset of the format that the project uses, and refuses the rest.
Correct names and complete arguments are checked by the kernel's script in `make lint` (W=1).

    /** NAME - summary, of a function; @ARGUMENT: lines, text, "Return:" and "Context:"
    /** struct NAME - summary, and enum; members have comments of their own inside
"""

import pathlib
import re

TITLE = re.compile(r"(?:(struct|enum) )?(\w+)(?:\(\))? - (.*)", re.S)
MEMBER = re.compile(r"/\*\*\s*@(\w+):(.*?)\*/\s*(.*?)(?=/\*\*|/\*|\Z)", re.S)
SECTION = re.compile(r"(?:^|(?<=[.:] ))(Returns?|Context|Note):\s*", re.M)


def text_of(comment):
    """Return a comment's text without its stars."""
    lines = [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in comment.splitlines()]
    return "\n".join(lines).strip()


def blocks(path):
    """Return [(kind, name, summary, text below the title, code)] of a file."""
    source = path.read_text(encoding="utf-8")
    out = []
    for comment in re.finditer(r"^/\*\*\n(.*?)\*/\n", source, re.S | re.M):
        title, _, rest = text_of(comment[1]).partition("\n")
        while rest and not rest.startswith(("\n", "@")):    # a summary of several lines
            line, _, rest = rest.partition("\n")
            title += " " + line
        found = TITLE.fullmatch(title)
        if not found:
            raise SystemExit(f"{path}: kernel-doc comment without a title: {title}")
        code = source[comment.end():]
        end = re.search(r"^}.*;$" if found[1] else r"^{|;$", code, re.M)
        out.append((found[1] or "function", found[2], found[3], rest.strip(), code[:end.start()]))
    return out


class Writer:
    """Pages whose texts refer to each other."""

    def __init__(self, files):
        self.files = {path: blocks(path) for path in files}
        # Sphinx has one name space: of a structure and a function the function keeps the name.
        found = sorted((kind, name) for found in self.files.values() for kind, name, *_ in found)
        self.kinds = {name: kind for kind, name in reversed(found)}
        self.kinds.update((name, kind) for kind, name in found if kind == "function")

    def inline(self, text):
        """Replace kernel-doc's marks by reStructuredText's; a name that is documented is a link."""
        text = re.sub(r"([*`|\\])", r"\\\1", " ".join(text.split()))

        def replace(match):
            word = match[0]
            name = re.sub(r"^[&@%](?:struct |enum )?|^(?:struct|enum) |\(\)$", "", word)
            kind = self.kinds.get(name)
            if kind and not word.startswith("@"):
                role = "func" if kind == "function" else kind
                return f":c:{role}:`{name}`"
            return f"``{word.lstrip('&@%')}``"

        return re.sub(r"(?<![\w`])(?:[&@%](?:struct |enum )?[a-zA-Z_][\w.>-]*\w(?:\(\))?|"
                      r"(?:struct|enum) \w+|\w+\(\)|\b\w+_\w+\b)", replace, text)

    def body(self, text, indent):
        """Return the paragraphs, lists and sections of a comment."""
        out = []
        text = SECTION.sub(lambda m: f"\n\n**{m[1].rstrip('s')}:** ", text)
        for paragraph in re.split(r"\n\s*\n", text.strip()):
            if re.match(r"- ", paragraph):
                for item in re.split(r"^- ", paragraph, flags=re.M)[1:]:
                    out.append(f"{indent}- {self.inline(item)}")
                out.append("")
                continue
            label = re.match(r"\*\*\w+:\*\* ", paragraph.lstrip())
            head = label[0] if label else ""
            out += [indent + head + self.inline(paragraph.lstrip()[len(head):]), ""]
        return out

    def function(self, name, summary, rest, code):
        """Return the text of a function, with its arguments as a field list."""
        signature = " ".join(code.split())
        signature = re.sub(r"^(static )?(inline )?|__(?!\w+_t\b)\w+ (?=\*?\w+ *\()", "", signature)
        out = [f".. c:function:: {signature}", "", f"   {self.inline(summary)}", ""]
        arguments, text = [], rest
        for match in re.finditer(r"^@([\w.]+):(.*?)(?=^@|^\s*$|\Z)", rest, re.S | re.M):
            arguments.append(f"   :param {match[1]}: {self.inline(match[2])}")
            text = text.replace(match[0], "")
        if arguments:
            out += arguments + [""]
        return out + (self.body(text, "   ") if text.strip() else [])

    def members(self, kind, rest, code):
        """Return the members of a structure or enumeration, in order."""
        out = []
        for match in MEMBER.finditer(code):
            what = " ".join(match[3].split())
            if kind == "enum":
                out.append(f"   .. c:enumerator:: {match[1]}")
                value = re.search(r"=\s*([^,]+)", what)
                note = f"``= {value[1].strip()}``: " if value else ""
            else:
                what = re.sub(r"DECLARE_BITMAP\((\w+), (\w+)\)", r"unsigned long \1[\2]", what)
                declaration = re.split(r"[;{]", what)[0].replace("__iomem ", "").strip()
                if not re.search(rf"\b{match[1]}\b", declaration):  # one of several, or nested
                    declaration = f"{declaration or 'struct'} {match[1]}".split(",")[0]
                out.append(f"   .. c:member:: {declaration}")
                note = ""
            out += ["", f"      {note}{self.inline(match[2])}", ""]
        for match in re.finditer(r"^@(\w+):(.*?)(?=^@|^\s*$|\Z)", rest, re.S | re.M):
            out += [f"   ``{match[1]}``", f"      {self.inline(match[2])}", ""]
        return out

    def page(self, title, intro, root):
        """Return a page with a section for each file."""
        out = [".. Generated by kernel_doc.py from comments; edit those instead.", "", title,
               "=" * len(title), "", intro, ""]
        for path, found in self.files.items():
            if not found:
                continue
            name = path.relative_to(root).as_posix()
            out += [name, "-" * len(name), ""]
            for kind, item, summary, rest, code in found:
                if kind == "function":
                    out += self.function(item, summary, rest, code)
                    continue
                text = re.sub(r"^@(\w+):(.*?)(?=^@|^\s*$|\Z)", "", rest, flags=re.S | re.M)
                block = [f".. c:{kind}:: {item}", "", f"   {self.inline(summary)}", ""]
                block += self.body(text, "   ") if text.strip() else []
                block += self.members(kind, rest, code)
                if self.kinds[item] == "function":
                    block = [re.sub(r"\.\. c:(struct|member):: (.*)", r"- ``\2``", line)
                             for line in block]
                out += block
        return "\n".join(out) + "\n"


def write_pages(top, folder):
    """Write the pages of the uapi and of the driver."""
    uapi = sorted((top / "uapi/drm").glob("*.h"))
    driver = top / "drivers/gpu/drm/pumice"
    sources = sorted(path for path in driver.iterdir() if path.suffix in (".c", ".h"))
    writer = Writer(uapi)
    (folder / "uapi-structures.rst").write_text(writer.page(
        "Structures of the uapi", "From the comments of ``uapi/drm``; :doc:`/uapi` explains how the "
        "calls work together.", top), encoding="utf-8")
    kinds = writer.kinds
    writer = Writer(sources)
    writer.kinds.update(kinds)
    (folder / "driver-functions.rst").write_text(writer.page(
        "Functions of the driver", "From the comments of the driver's sources; "
        ":doc:`/driver/internals` explains how they work together.", driver), encoding="utf-8")


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    write_pages(here.parent, here / "reference")
