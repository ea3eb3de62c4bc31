"""SDF in and out: the format of Gazebo."""
