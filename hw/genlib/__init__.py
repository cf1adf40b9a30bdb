# SPDX-License-Identifier: MIT
"""Generator of everything that follows from the hardware contract in hw/*.xml."""
