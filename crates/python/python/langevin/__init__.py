"""Langevin samplers with a Riemannian metric and a geometry-informed irreversible field.

There is one stochastic differential equation with two choices, a metric ``B`` and a skew field
``C``::

    dθ = [ (βB + C) ∇log π + div(βB + C) ] dt + sqrt(2βB) dW

and five names for pairs of choices: ``LD``, ``RM``, ``Irr``, ``RMIrr`` and ``GiIrr``.

>>> import numpy as np
>>> import langevin as lv
>>> rng = np.random.default_rng(0)
>>> target = lv.NormalParameters(rng.normal(3.0, 2.0, size=50))
>>> trace = lv.sample(target, lv.GiIrr(skew=lv.sign_skew(2.0)), step_size=0.05, n_steps=4_000,
...                   n_chains=8, burn_in=500, thin=10, seed=0, progress=False)
>>> trace["mu"].shape
(8, 350)
"""

from . import theory
from ._core import __version__
from .comparison import Comparison, compare
from .compiled import CompiledTarget, from_cfunc
from .escape import Escape, EscapeWarning
from .dynamics import LD, RM, Dynamics, GiIrr, Irr, RMIrr
from .jax_target import JaxMetric, JaxTarget, from_jax
from .metric import Metric
from .models import Ica, LinearGaussian, LogisticRegression, NormalParameters
from .posterior import PosteriorTrace, SamplingWarning
from .program import open_store, run
from .pymc_target import PymcTarget, from_pymc
from .sampling import decreasing, sample
from .scales import Scale, above, below, correlation_cholesky, interval, ordered, positive, real
from .scales import simplex, unit_vector
from .skew import Skew, kronecker_skew, random_skew, sign_skew
from .stan_target import StanTarget, from_stan
from .stats import ess_bulk, ess_mean, ess_quantile, ess_sd, ess_tail, ksd, ksd_curve
from .stats import batch_means, mcse_mean, mcse_sd, rhat
from .summary import Spread, Summary
from .target import Parameter, Target
from .trace import Trace

__all__ = [
    "LD",
    "RM",
    "CompiledTarget",
    "Comparison",
    "Escape",
    "EscapeWarning",
    "Dynamics",
    "GiIrr",
    "Ica",
    "Irr",
    "JaxMetric",
    "JaxTarget",
    "LinearGaussian",
    "LogisticRegression",
    "Metric",
    "NormalParameters",
    "Parameter",
    "PosteriorTrace",
    "PymcTarget",
    "RMIrr",
    "SamplingWarning",
    "Scale",
    "Skew",
    "Spread",
    "StanTarget",
    "Summary",
    "Target",
    "Trace",
    "__version__",
    "above",
    "batch_means",
    "below",
    "compare",
    "correlation_cholesky",
    "decreasing",
    "ess_bulk",
    "ess_mean",
    "ess_quantile",
    "ess_sd",
    "ess_tail",
    "from_cfunc",
    "from_jax",
    "from_pymc",
    "from_stan",
    "interval",
    "kronecker_skew",
    "ksd",
    "ksd_curve",
    "mcse_mean",
    "mcse_sd",
    "open_store",
    "ordered",
    "positive",
    "random_skew",
    "real",
    "rhat",
    "run",
    "sample",
    "sign_skew",
    "simplex",
    "theory",
    "unit_vector",
]
