"""URDF in and out: the format of ROS."""
