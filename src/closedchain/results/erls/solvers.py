"""What marches ERLS, by name, and what to cite for it."""

CITATIONS = {
    "esdirk4": "Kennedy, Carpenter (2003), Additive Runge-Kutta schemes, Applied Numerical Mathematics 44, 139-181",
    "generalised-alpha": "Chung, Hulbert (1993), Journal of Applied Mechanics 60, 371-375",
}
