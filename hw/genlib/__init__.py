# SPDX-License-Identifier: MIT
"""Generator of code and pages from the hardware contract in hw/*.xml."""
