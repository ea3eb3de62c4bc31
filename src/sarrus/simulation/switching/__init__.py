"""Runs whose constraints close and open: switches, contacts, impacts, hard stops."""
