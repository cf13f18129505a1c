"""`integrate` with everything as keywords, for tests that vary one thing at a time."""

from closedchain.integrate import integrate as module
from closedchain.integrate.hooks import Hooks
from closedchain.integrate.problem import Correction, Jacobian, Problem, Samples, Tolerances
from closedchain.integrate.solvers import SOLVERS

SOLVER = ("step", "first_step", "max_step", "max_steps", "dense_output")
PROBLEM = ("extra", "corners", "time", "pivot_after", "pivot_before", "team")
TOLERANCES = ("rtol", "atol", "relative", "newton")
SAMPLES = ("t_eval", "store", "window")
HOOKS = ("inputs", "event", "handover", "handover_every", "monitor", "checkpoint", "progress", "steps_per_call",
         "detects_stiffness")  # fmt: skip


def integrate(solver, rhs, x0, t_span, w=(), resume=None, **options):
    """``correct`` and ``jac`` are addresses, ``w_correct``, ``w_jac`` and ``structure`` belong to them."""

    def chosen(names):
        return {name: options.pop(name) for name in names if name in options}

    hooks = Hooks()
    for name, value in chosen(HOOKS).items():
        setattr(hooks, name, value)
    hooks.finds_events = "event" in vars(hooks)
    extra = options.pop("extra", None)
    if "jac" in options:
        extra = Jacobian(options.pop("jac"), options.pop("w_jac", None), options.pop("structure", None))
    correction = None
    if "correct" in options:
        more = {"tolerance": "correct_tol", "samples": "correct_samples", "w": "w_correct"}
        correction = Correction(
            options.pop("correct"), **{name: options.pop(was) for name, was in more.items() if was in options}
        )
    problem = Problem(rhs, w, correction, extra, **chosen(PROBLEM))
    made = SOLVERS[solver](**chosen(SOLVER)) if solver in SOLVERS else solver
    tolerances, samples = Tolerances(**chosen(TOLERANCES)), Samples(**chosen(SAMPLES))
    assert not options, options
    return module.integrate(made, problem, x0, t_span, tolerances, samples, hooks, resume)
