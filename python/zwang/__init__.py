"""Constrained dynamics by Gauss's principle of least constraint.

    >>> import zwang
    >>> model = zwang.parse('''
    ... param g = 9.81, l = 1
    ... coord x = 0.6, y = -0.8
    ... mass  2 at (x, y)
    ... gravity (0, -g)
    ... constraint rod: |(x, y)| = l
    ... ''')
    >>> run = model.run(2, every=0.5)
    >>> run["x"].round(6).tolist()
    [0.6, 0.029328, -0.597933, -0.087633, 0.591722]
    >>> bool(run.certificate.max() < 1e-12)
    True

`load` reads .zw, MJCF and URDF files, `parse` a string. A `Model` is compiled and never changes: `model.run` returns a whole motion as
NumPy arrays, `model.sim` a simulation to step and control, `Batch` many of them. `zwang.gauss.solve` solves Gauss's problem given by
matrices. Failures raise `zwang.Error`, with the line and column of the user's text where there is one.
"""

from . import env, gauss
from ._core import Error, version as _version
from .batch import Batch
from .model import Model, load, parse
from .robot import Robot
from .run import Event, Run
from .sim import Sim
from .study import Fit, Forces, Optimum, Sweep, Trial, certify, fit, inverse, optimise, sweep
from .system import System

__version__: str = _version()
__all__ = ["Batch", "Error", "Event", "Fit", "Forces", "Model", "Optimum", "Robot", "Run", "Sim", "Sweep", "System", "Trial", "certify", "env", "fit", "gauss", "inverse",
           "load", "optimise", "parse", "sweep"]
