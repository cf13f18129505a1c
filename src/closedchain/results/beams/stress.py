"""Stresses in the sections of a beam: normal stress in the outermost fibres, shear by torsion.

    sigma = N / A - Mz y / Iz + My z / Iy          tau = T r / J          von Mises: sqrt(sigma^2 + 3 tau^2)

With the largest of all fibres: at the corners of a section both bending stresses add up, in round ones as vectors. The
largest shear stress of a section that is not round is elsewhere than the largest normal stress: taken together they are
on the safe side. Shear by Vy and Vz is zero in the outermost fibres, and small in a slender beam: it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from closedchain.results.beams.numbers import BeamNumbers

CAUSES = {"N": "tension", "T": "torque about x", "My": "bending moment about y", "Mz": "bending moment about z"}
STRESSES = {
    "axial_stress": "N / A, with its sign",
    "bending_stress": "largest in the section",
    "normal_stress": "largest in the section: of axial force and bending",
    "shear_stress": "largest in the section, by torsion",
    "von_mises": "of the largest normal and shear stress",
}
NEGLIGIBLE = 1e-9  # of the largest moment: rounding


def stresses(
    beam: BeamNumbers, forces: Mapping[str, np.ndarray], undetermined: tuple[str, ...] = ()
) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """Stresses by name, Pa, and what they leave out, in words.

    Parameters
    ----------
    beam
        Its numbers.
    forces
        Section forces by name, arrays of one shape.
    undetermined
        Names of those that are not determined: they do not count.
    """
    missing = [f"{CAUSES[name]}, which the joints leave open" for name in CAUSES if name in undetermined]
    none, section = np.zeros_like(forces["N"]), beam.section
    axial = none if "N" in undetermined else forces["N"] / section.A

    def bending(moment: str, I: float, arm: float | None, letter: str) -> np.ndarray | None:
        """Stress in the outermost fibre; None where the section does not tell."""
        if moment in undetermined:
            return none
        if I > 0 and arm is not None:
            return forces[moment] * arm / I
        # a moment that is rounding needs no arm: compared with what the other forces can do on the same beam
        largest = max((np.nanmax(np.abs(forces[k]), initial=0.0) for k in ("Mz", "My")), default=0.0)
        pulled = np.nanmax(np.abs(forces["N"]), initial=0.0) * beam.length
        if np.nanmax(np.abs(forces[moment]), initial=0.0) <= NEGLIGIBLE * max(largest, pulled):
            return none
        lacks = f"I{'z' if letter == 'y' else 'y'}" if not I > 0 else letter
        missing.append(f"bending along {letter}, for which the section has no {lacks}")
        return None

    by_y, by_z = bending("Mz", section.Iz, section.y, "y"), bending("My", section.Iy, section.z, "z")
    out = {"axial_stress": axial}
    shear = none
    if "T" not in undetermined and forces["T"].any():
        if section.J > 0 and section.radius is not None:
            shear = np.abs(forces["T"]) * section.radius / section.J
        elif np.nanmax(np.abs(forces["T"])) > NEGLIGIBLE * np.nanmax(np.abs([forces["Mz"], forces["My"]])):
            missing.append(f"torsion, for which the section has no {'torsion_radius' if section.J > 0 else 'J'}")
    if by_y is not None and by_z is not None:
        # at a corner both add up; a round section has none
        bent = np.hypot(by_y, by_z) if section.round else np.abs(by_y) + np.abs(by_z)
        normal = np.abs(axial) + bent
        out |= {"bending_stress": bent, "normal_stress": normal, "shear_stress": shear}
        out["von_mises"] = np.sqrt(normal**2 + 3 * shear**2)
    return out, tuple(missing)
