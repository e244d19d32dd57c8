# SPDX-License-Identifier: MIT
"""The parts of scripts/report.py: what is read of an output directory, what is found in it, and the page."""
