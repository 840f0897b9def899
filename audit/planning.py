"""Do surveys reach what was planned? Everything fixed in advance.

* Precision: 20 plans (mechanisms, shares, ε and levels) with the n that `ex.plan` returns. 2,000 surveys of each are
  simulated at the planned shares, or at the worst ones, and estimated by `ex.estimate_frequencies`. The mean half-width
  of the widest cell must be the planned one within 4 standard errors and the length that one report more or less makes
  (expected counts are rounded to whole ones); the estimate must lie within the planned half-width of the truth with
  the planned level, and the interval hold the truth, each within 4 standard errors.
* Power: 20 plans of `ex.plan_test`; 20,000 data sets of each under either hypothesis. Rejections under the alternative
  must be as frequent as planned within 4 standard errors, and under the hypothesis no more than the level.
* What must be caught: a plan with 20% fewer people than it needs, in both.

Run with `make audit`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

import extremal as ex
from extremal.estimate.hypothesis_tests.likelihood_ratio import Rule, marginals
from extremal.testing.random_mechanisms import random_identified
from extremal.testing.surveys import simulated_tests, simulated_widths

SURVEYS, TESTS, SEED, ERRORS = 2_000, 20_000, 20_261_115, 4.0
