"""USD physics in."""
