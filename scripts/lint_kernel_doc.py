#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Report functions of the kernel module whose kernel-doc comment is missing or incomplete.

The rule is in Documentation/style.rst: directly before each function that is not static there is
a comment "/** NAME - summary" which describes every parameter ("@NAME: text") and, unless the
function is void, the returned value ("Return: text", at the start of a line). The kernel's own
script, which `make lint` runs with the module, checks the form of the comments that exist.

Limits: functions that a macro defines are not seen, nor definitions in headers, which are inline.
The KUnit tests are left out.
"""

import re

import lint_driver

# Type, name and parameters, from the start of a line to the "{" of the body.
DEFINITION = re.compile(r"(?<!\bstatic\n)^(?!static\b)(\w[^;={}()]*?[\s*])(\w+)\(([^;{]*)\)\s*^\{",
                        re.MULTILINE)
COMMENT = re.compile(r"/\*\*\n \* (\w+) - \S")


def functions(content):
    """Return [(line, type, name, parameters, comment)] of the functions that are not static."""
    found = []
    for match in DEFINITION.finditer(content):
        before = content[:match.start()]
        comment = before[before.rindex("/*"):] if before.endswith("*/\n") else ""
        found.append((content.count("\n", 0, match.start(2)) + 1, match[1], match[2],
                      parameter_names(match[3]), comment))
    return found


def parameter_names(text):
    """Return the names in a list of parameters."""
    text = re.sub(r"\(\s*\*\s*(\w+)\s*\)\s*\([^()]*\)", r" \1", text)    # pointers to functions
    names = [re.sub(r"\[[^\]]*\]", "", one).strip() for one in text.split(",")]
    return ["..." if one == "..." else re.findall(r"\w+", one)[-1]
            for one in names if one not in ("", "void")]


def function_problems(kind, name, parameters, comment):
    """Return the problems of one function."""
    title = COMMENT.match(comment)
    if not title:
        return ["has no kernel-doc comment"]
    found = []
    if title[1] != name:
        found.append(f"has the kernel-doc comment of {title[1]}()")
    found += [f"does not describe @{one}" for one in parameters
              if not re.search(rf"^ \* @{re.escape(one)}: *\S", comment, re.MULTILINE)]
    is_void = "*" not in kind and "void" in kind.split()
    if not is_void and not re.search(r"^ \* Return: *\S", comment, re.MULTILINE):
        found.append('has no "Return:"')
    return found


def problems(files):
    """Return the problems of files, {name: content}."""
    return [f"{file}:{line}: function {name}() {problem}"
            for file, content in sorted(files.items())
            for line, kind, name, parameters, comment in functions(content)
            for problem in function_problems(kind, name, parameters, comment)]


if __name__ == "__main__":
    lint_driver.main("*.c", functions, problems)
