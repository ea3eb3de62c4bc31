"""Independent implementations that the library is compared with."""
