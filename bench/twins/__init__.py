"""The same mechanisms in other programs: MuJoCo, Pinocchio, TSID, or by the scheme of a published run."""
