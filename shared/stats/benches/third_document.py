"""The third document's procedure (section 3.5), timed on a few comparisons.

usage: third_document.py QUERIES RESAMPLES COMPARISONS

Prints the NumPy version and the seconds that one comparison took on average.
"""

import sys
import time

import numpy as np


def paired_bootstrap(baseline, candidate, *, iterations=10_000, seed=20260816):
    diff = candidate - baseline
    rng = np.random.default_rng(seed)
    idx = rng.integers(0, diff.size, size=(iterations, diff.size))
    means = diff[idx].mean(axis=1)
    return float(diff.mean()), float(np.percentile(means, 2.5)), float(np.percentile(means, 97.5))


def permutation_test(baseline, candidate, *, iterations=10_000, seed=20260816):
    diff = candidate - baseline
    observed = abs(diff.mean())
    rng = np.random.default_rng(seed)
    signs = rng.choice((-1.0, 1.0), size=(iterations, diff.size))
    null = np.abs((diff * signs).mean(axis=1))
    return float((np.count_nonzero(null >= observed) + 1) / (iterations + 1))


def main():
    queries, resamples, comparisons = map(int, sys.argv[1:])
    values = np.random.default_rng(1).random((comparisons + 1, queries))
    start = time.perf_counter()
    for candidate in values[1:]:
        paired_bootstrap(values[0], candidate, iterations=resamples)
        permutation_test(values[0], candidate, iterations=resamples)
    print(np.__version__, (time.perf_counter() - start) / comparisons)


main()
