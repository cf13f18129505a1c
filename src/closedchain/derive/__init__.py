"""Open-chain equations of the limbs, traced on CasADi scalars: kinematics, inertia, bias, closures, energies."""
