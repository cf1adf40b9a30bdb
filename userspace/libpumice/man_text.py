# SPDX-License-Identifier: MIT
"""Text of comments for manual pages."""
import re


def clean(comment):
    """Return a comment's lines without its stars."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.strip().split("\n")]
    return "\n".join(lines).strip()


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def paragraphs(text):
    return [p for p in re.split(r"\n\s*\n", text) if p.strip()]


def bold_refs(text):
    text = escape(text)
    text = re.sub(r"@(\w+)", r"\\fI\1\\fR", text)
    return re.sub(r"\b(pumice_\w+)\(\)", r"\\fB\1\\fR(3)", text)
