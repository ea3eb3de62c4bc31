"""The same mechanisms in other programs: MuJoCo, Pinocchio, TSID."""
