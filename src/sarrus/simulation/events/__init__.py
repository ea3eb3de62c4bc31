"""What is watched between steps: user events, singular poses, limits; and the interpolation they are located on."""
