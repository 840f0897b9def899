"""What no ε-LDP mechanism can exceed: every bound of the paper that applies, as it holds, next to the optimum.

A bound is a value at one ε with its statement, its source, the erratum that changed it and the ε for which it is
proven. Some are proven at every ε; some "for ε small (or large) enough", without saying how small, and with a slack δ >
0 that the caller chooses. The proofs that are not in the paper, all for every ε, with E = e^ε, c = E − 1, S_T = 1 +
c·1_T, Q = Σ_T θ_T S_T (KOV Theorem 4), δ_T = P₀(T) − P₁(T):

*Quadratic* (Corollary 9 at every ε and without slack). (a − b)·log(a/b) ≤ (a − b)²/√(ab), χ² and Hellinger likewise,
and both report probabilities of S_T are at least 1. So the symmetrised divergence is at most c²·Σθ_T δ_T², |δ_T| ≤
TV(P₀,P₁), and c·Σθ_T|δ_T| = 2·TV(M₀,M₁) ≤ 2·tanh(ε/2)·TV(P₀,P₁) by Corollary 11: together 2c²/(E+1)·TV².

*Pinsker and the quadratic bound* (Theorem 7 with E + 1 in place of 2(E+1)²): BIN ≥ 2·tanh²(ε/2)·TV².

*Chord.* The ratio of report probabilities lies in [1/E, E], where a convex f with f(1) = 0 lies below its chords from
1: D_f ≤ TV(M₀,M₁)·(f(E) + E·f(1/E))/(E − 1); with Corollary 11 the factor is TV(P₀,P₁)/(E + 1).

*Lemma 27 at every ε* (hence Theorem 13). φ is concave with φ(0) = φ(1) = 0 and its largest value φ* at z* ≤ ½. Let t ≤
½ be the mass of the lighter side of the most balanced split. If z* < t, concavity gives φ(t) + φ(1−t) ≥ φ*/(1−z*). If t
≤ z* and no symbol is heavier than ⅔, t ≥ ⅓ and φ(t) + φ(1−t) ≥ φ*·t/(z*(1−z*)) ≥ ⁴⁄₃·φ*. If t ≤ z* and one symbol is
heavier than ⅔, no set has a mass strictly between t and 1 − t, and φ is monotone on either side.
"""
