# SPDX-License-Identifier: MIT
"""Sphinx settings. `make docs` builds the site; the reference pages are generated from hw/."""
import os
import pathlib
import shutil
import sys

project = "Pumice"
author = "The Pumice maintainers"
copyright = "The Pumice maintainers"
extensions = []
html_theme = "alabaster"
html_theme_options = {"description": "A virtual tile-based GPU", "fixed_sidebar": True,
                      "page_width": "1100px", "show_powered_by": False}
html_show_sphinx = False
exclude_patterns = ["_build"]
highlight_language = "none"
nitpicky = True
linkcheck_timeout = 30
linkcheck_retries = 2
# Types of the kernel and of libc in signatures, and constants that are lengths of arrays. All other
# names have to be documented: structures and functions of the uapi, the driver and the firmware.
nitpick_ignore_regex = [("c:identifier", pattern) for pattern in (
    r"(__)?[us](8|16|32|64)", r"(size|pid|dma_addr|gfp|ktime|spinlock|atomic(64)?)_t",
    r"wait_queue_head_t|__poll_t",
    r"list_head|xarray|mutex|kref|ida|completion|sg_table|scatterlist|file|seq_file|dentry",
    r"poll_table_struct|mem_cgroup",
    r"(work|workqueue)_struct|timer_list|ratelimit_state|pci_dev|dma_(fence|resv|buf_attachment)",
    r"drm_(?!pumice_)\w+", r"[A-Z][A-Z0-9_]+")]

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
import counter_tables  # noqa: E402  # pylint: disable=wrong-import-position
import kernel_doc  # noqa: E402  # pylint: disable=wrong-import-position
import structure_pages  # noqa: E402  # pylint: disable=wrong-import-position
generated = here.parent / os.environ.get("BUILD", "build") / "gen" / "docs"
if not generated.is_dir():
    raise SystemExit(f"{generated} is missing: run `make gen` first")
reference = here / "reference"
shutil.rmtree(reference, ignore_errors=True)
shutil.copytree(generated, reference)


def counters_page():
    """Return the performance counters, from the table in hw/perf.h."""
    rows = counter_tables.table(here.parent / "hw" / "perf.h", "PUMICE_PERF_COUNTERS")
    out = [".. Generated from hw/perf.h; edit that instead.\n", "Performance counters",
           "====================\n", ".. list-table::", "   :header-rows: 1\n",
           "   * - Number", "     - Name", "     - Block", "     - Counts", "     - Unit",
           "     - When"]
    for number, (name, block, detailed, unit, description) in enumerate(rows):
        when = "while a counted job runs" if detailed == "1" else "always"
        out += [f"   * - {number}", f"     - ``{name}``", f"     - {block}",
                f"     - {description}", f"     - ``{unit}``", f"     - {when}"]
    return "\n".join(out) + "\n"


def hierarchy_counts_page():
    """Return the columns of the memory hierarchy's counts, from the tables in hw/hier.h."""
    out = [".. Generated from hw/hier.h; edit that instead.\n", "Counts of the memory hierarchy",
           "==============================\n"]
    for table, title in (("CLIENT", "Of a client"), ("LEVEL", "Of a level of caches")):
        rows = counter_tables.table(here.parent / "hw" / "hier.h", f"PUMICE_HIER_{table}_COLUMNS")
        out += [title, "-" * len(title), "", ".. list-table::", "   :header-rows: 1\n",
                "   * - Column", "     - Name", "     - Counts"]
        for number, (name, description) in enumerate(rows):
            out += [f"   * - {number}", f"     - ``{name}``", f"     - {description}"]
        out.append("")
    return "\n".join(out)


kernel_doc.write_pages(here.parent, reference)
structure_pages.write_pages(here.parent, reference)
(reference / "counters.rst").write_text(counters_page(), encoding="utf-8")
(reference / "hierarchy-counts.rst").write_text(hierarchy_counts_page(), encoding="utf-8")
