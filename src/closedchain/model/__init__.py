"""What a mechanism is: bodies, joints, actuators, forces, and the library of mechanisms."""
