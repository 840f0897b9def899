"""How the respondents were sampled: clusters, strata and finite populations, in the manner of R's survey package.

With weights w_i the estimate is θ̂ = Σ w_i B_i / Σ w_i, B_i what report i contributes. Reports of one cluster are not
independent, those of different strata are not exchangeable; the linearised variance adds up clusters within strata,

    V = Σ_h (1 − n_h/N_h) · n_h/(n_h − 1) · Σ_{c in h} (z_c − z̄_h)²,   z_c = Σ_{i in c} w_i (B_i − θ̂) / Σ w,

with n_h the number of clusters of stratum h in the sample and N_h in the population (none given: N_h = ∞). Without
clusters every respondent is one. This is `svydesign(ids, strata, fpc)` with `svymean` (Binder 1983; Lumley 2004),
where the randomisation of the answers is one more stage of sampling: it is in the B_i. A finite population correction
does not reduce that part, so it is applied to the sampling part only: V = V_infinite − Σ_h (n_h/N_h)·(share of h in V
that is not privacy).

A stratum with a single cluster has no spread to be seen; like R's `survey.lonely.psu = "adjust"`, its cluster is
centred at the overall mean.

Effective numbers of reports are V(one report)/V, times (t_∞/t_f)² for f = clusters − strata degrees of freedom (Korn
and Graubard 1998).

References: Binder, Int. Statist. Rev. 51 (1983); Lumley, J. Statist. Software 9 (2004); Korn and Graubard, Survey
Methodology 24 (1998).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extremal.estimate.channels.channel import Inverse
from extremal.exact.weights import Floats

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sampling:
    """Sums of each cluster.

    Attributes:
        statistics: a column for each cluster: Σ w_i of the channel's statistic of its reports, over Σ w of all.
        shares: Σ w_i of each cluster, over Σ w of all.
        strata: the stratum of each cluster, as a code.
        sampled: the share of its stratum's population that each stratum's sample is (0: a large population).
        noise: Σ_i w_i² of each stratum over (Σ w)²: the weight of what randomisation alone contributes.
    """

    statistics: Floats
    shares: Floats
    strata: Codes
    sampled: Floats
    noise: Floats

    @property
    def degrees(self) -> int:
        """Clusters minus strata."""
        return max(1, int(self.shares.size - np.unique(self.strata).size))

    def residuals(self, inverse: Inverse, rows: Floats | None, centre: Floats) -> Floats:
        """z_c − z̄_h scaled so that their squares add up to the variance: a column for each cluster."""
        sums = inverse.apply(self.statistics) - centre[:, None] * self.shares
        z = sums if rows is None else rows @ sums
        count = np.bincount(self.strata)
        means = np.zeros((z.shape[0], count.size))
        np.add.at(means.T, self.strata, z.T)
        means /= np.maximum(count, 1)
        means[:, count == 1] = 0.0
        factor = np.sqrt(np.where(count > 1, count / np.maximum(count - 1, 1), 1.0))
        return np.asarray((z - means[:, self.strata]) * factor[self.strata])

    def variances(self, inverse: Inverse, rows: Floats | None, centre: Floats) -> Floats:
        by_stratum = self._by_stratum(self.residuals(inverse, rows, centre) ** 2)
        return np.asarray(self._corrected(by_stratum, inverse, rows, centre))

    def covariance(self, inverse: Inverse, rows: Floats | None, centre: Floats) -> Floats:
        residuals = self.residuals(inverse, rows, centre)
        whole = residuals @ residuals.T
        diagonal = np.diagonal(whole)
        wanted = self.variances(inverse, rows, centre)
        scale = np.sqrt(np.divide(wanted, diagonal, out=np.ones_like(wanted), where=diagonal > 0))
        return np.asarray(whole * np.outer(scale, scale))

    def effective(self, unit: Floats, variance: Floats) -> Floats:
        """Korn and Graubard's effective number of reports."""
        from scipy.special import stdtrit

        loss = (1.959963984540054 / float(stdtrit(self.degrees, 0.975))) ** 2
        return np.asarray(np.divide(unit, variance, out=np.full_like(unit, 1.0), where=variance > 0) * loss)

    def _by_stratum(self, squares: Floats) -> Floats:
        found = np.zeros((squares.shape[0], self.sampled.size))
        np.add.at(found.T, self.strata, squares.T)
        return found

    def _corrected(self, by_stratum: Floats, inverse: Inverse, rows: Floats | None, centre: Floats) -> Floats:
        if not self.sampled.any():
            return np.asarray(by_stratum.sum(axis=1))
        p = np.clip(centre, 0.0, 1.0)
        p = p / p.sum()
        a = np.eye(p.size) if rows is None else rows
        privacy = np.maximum(inverse.moments(rows) @ p - (a**2) @ p, 0.0)[:, None] * self.noise
        return np.asarray((by_stratum - self.sampled * np.maximum(by_stratum - privacy, 0.0)).sum(axis=1))
