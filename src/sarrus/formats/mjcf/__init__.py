"""MJCF in and out: MuJoCo's own format."""
