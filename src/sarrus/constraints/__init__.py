"""What a loop, rod, gear, drive, wheel or user function contributes to phi, J, b and gamma."""
