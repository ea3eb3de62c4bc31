"""Forces of a description, frictions and stops, actuators, and the tables and parameters of all kinds."""
