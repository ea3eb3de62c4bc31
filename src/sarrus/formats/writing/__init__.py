"""What all exporters share: bodies and inertias as robot files want them, XML text, files put in place."""
